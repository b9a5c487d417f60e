// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Data parallelism: every device has all weights and its own samples; one all-reduce of one number averages the losses
/// at the end.
// ranks: 1 2 4 8
// labels: ci

#include "layers.hpp"

OSTRAKA_MESH_AXIS(batch);

int main(int argc, char** argv) {
  os::environment const env(argc, argv);
  auto const mesh = os::make_mesh(batch = env.devices());
  auto const inputs = make_inputs<N/batch, D>(mesh);
  auto const targets = make_targets<N/batch, F>(mesh);
  auto const W = make_weights<D, F>(mesh);
  auto const b = make_biases<F>(mesh);

  auto const loss = os::shard_map<>([&](auto x, auto t) {    // the weights are the same everywhere, and captured
    auto const y = predict(x, [&](auto const& h, std::size_t l) { return os::add(os::einsum<N, F>(h, W[l]), b[l]); });
    return os::pmean<batch>(os::mean<>(squared_errors(y, t)));
  }, inputs, targets);

  return verdict_of_loss(loss, mesh);
}
