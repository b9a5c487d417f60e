// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Tensor parallelism: activations are divided over their features, and weights over their input features. A layer is a
/// function of tensors that is written device by device; around it the program stays in the global view, where the loss
/// is reduced by plan.
// ranks: 1 2 4 8
// labels: ci

#include "layers.hpp"

OSTRAKA_MESH_AXIS(feats);

/// x[N, D_feats] · W[D_feats, F] + b[F_feats] → [N, F_feats]
auto affine(auto const& x, auto const& W, auto const& b) {
  return os::shard_map<N, F/feats>([](auto l, auto w, auto bias) {
    return os::add(os::psum_scatter<F/feats>(os::einsum<N, F>(l, w)), bias);
  }, x, W, b);
}

int main(int argc, char** argv) {
  os::environment const env(argc, argv);
  auto const mesh = os::make_mesh(feats = env.devices());
  auto const inputs = make_inputs<N, D/feats>(mesh);
  auto const targets = make_targets<N, F/feats>(mesh);
  auto const W = make_weights<D/feats, F>(mesh);
  auto const b = make_biases<F/feats>(mesh);

  auto const y = predict(inputs, [&](auto const& x, std::size_t l) { return affine(x, W[l], b[l]); });
  auto const loss = os::mean<>(squared_errors(y, targets));    // summed over feats: an all-reduce that is planned

  return verdict_of_loss(loss, mesh);
}
