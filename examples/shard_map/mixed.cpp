// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Fully sharded data parallelism and tensor parallelism together, on a mesh of two axes: samples over batch,
/// activations over feats, and weights over both, feats first: gathered over batch before their use, they are the rows
/// of this device along feats.
// ranks: 1 2 4 8
// labels: ci

#include "layers.hpp"

OSTRAKA_MESH_AXIS(batch);  OSTRAKA_MESH_AXIS(feats);

int main(int argc, char** argv) {
  os::environment const env(argc, argv);
  int const halves = env.devices() % 2 == 0 ? 2 : 1;
  auto const mesh = os::make_mesh(batch = env.devices() / halves, feats = halves);
  auto const inputs = make_inputs<N/batch, D/feats>(mesh);
  auto const targets = make_targets<N/batch, F/feats>(mesh);
  auto const weights = make_weights<D/feats/batch, F>(mesh);
  auto const biases = make_biases<F/feats/batch>(mesh);

  auto const loss = os::shard_map<>([](auto x, auto t, auto W, auto b) {
    auto const y = predict(x, [&](auto const& h, std::size_t l) {
      auto const product = os::einsum<N, F>(h, os::all_gather<D/batch>(W[l]));
      return os::add(os::psum_scatter<F/feats>(product), os::all_gather<F/batch>(b[l]));
    });
    auto const errors = os::psum<feats>(squared_errors(y, t));
    return os::pmean<batch>(os::mean<>(errors));
  }, inputs, targets, weights, biases);

  return verdict_of_loss(loss, mesh);
}
