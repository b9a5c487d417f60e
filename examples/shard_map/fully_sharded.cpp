// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Fully sharded data parallelism: the weights, too, are divided over the devices. A device gathers those of each layer
/// just before it uses them, and never holds all of them.
// ranks: 1 2 4 8
// labels: ci

#include "layers.hpp"

OSTRAKA_MESH_AXIS(batch);

int main(int argc, char** argv) {
  os::environment const env(argc, argv);
  auto const mesh = os::make_mesh(batch = env.devices());
  auto const inputs = make_inputs<N/batch, D>(mesh);
  auto const targets = make_targets<N/batch, F>(mesh);
  auto const weights = make_weights<D/batch, F>(mesh);
  auto const biases = make_biases<F/batch>(mesh);

  auto const loss = os::shard_map<>([](auto x, auto t, auto W, auto b) {
    auto const y = predict(x, [&](auto const& h, std::size_t l) {
      auto const product = os::einsum<N, F>(h, os::all_gather<D/batch>(W[l]));
      return os::add(product, os::all_gather<F/batch>(b[l]));
    });
    return os::pmean<batch>(os::mean<>(squared_errors(y, t)));
  }, inputs, targets, weights, biases);

  return verdict_of_loss(loss, mesh);
}
