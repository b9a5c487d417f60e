// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Tensor parallelism: activations are divided over their features, and weights over their input features. A product is
/// reduce-scattered over its features, and in the backward one gather of its cotangent serves both of its operands.
// ranks: 1 2 4 8
// labels: ci

#include "layers.hpp"

OSTRAKA_MESH_AXIS(feats);

template <class L>
struct parameters {
  std::array<os::leaf<L, double, D/feats, F>, network::layers> W;
  std::array<os::leaf<L, double, F/feats>, network::layers> b;
};
using inputs_type = os::tensor<double, N, D/feats>;
using targets_type = os::tensor<double, N, F/feats>;

auto in_the_global_view(auto const& p, auto const& inputs, auto const& targets) {
  auto const y = predict(inputs, [&](auto const& x, std::size_t l) {
    return os::reshard<N, F/feats>(os::einsum<N, F, os::partial(feats)>(x, p.W[l])) + p.b[l];
  });
  return mean_of_squares(y, targets);
}

/// A layer is written device by device; around it the program stays in the global view.
auto layer_by_layer(auto const& p, auto const& inputs, auto const& targets) {
  auto const y = predict(inputs, [&](auto const& x, std::size_t l) {
    return os::shard_map<N, F/feats>([](auto h, auto W, auto b) {
      return os::psum_scatter<F/feats>(os::einsum<N, F>(h, W)) + b;
    }, x, p.W[l], p.b[l]);
  });
  return mean_of_squares(y, targets);
}

int main(int argc, char** argv) {
  os::testing::count_operations_alone();
  os::environment const env(argc, argv);
  auto const mesh = os::make_mesh(feats = env.devices());
  std::int64_t const n = env.devices();
  training t;
  t.run<parameters, inputs_type, targets_type>(
      "in the global view", mesh,
      [](auto const& p, auto const& inputs, auto const& targets) { return in_the_global_view(p, inputs, targets); });
  t.expect_moves((n - 1) * (network::batch * all_outputs + 2), (n - 1) * network::batch * all_outputs);
  t.run<parameters, inputs_type, targets_type>(
      "layer by layer", mesh,
      [](auto const& p, auto const& inputs, auto const& targets) { return layer_by_layer(p, inputs, targets); });
  t.expect_moves((n - 1) * (network::batch * all_outputs + 2), (n - 1) * network::batch * all_outputs);
  return t.verdict();
}
