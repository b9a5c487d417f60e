// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Pipeline parallelism: the four layers between the first and the last are alike, so they are stacked and divided over
/// stages; four microbatches go through them. The other mesh axis divides the samples among the devices of a stage.
/// Each device works on the first and the last layer for its own samples.
// ranks: 1 2 4 8
// labels: ci

#include "layers.hpp"

OSTRAKA_AXIS(L, network::layers - 2);
OSTRAKA_MESH_AXIS(batch);  OSTRAKA_MESH_AXIS(stages);

/// The layers between, one after another.
struct stacked {
  std::array<network::normal_numbers, network::layers - 2> of_layer;
  KOKKOS_FUNCTION float operator()(std::int64_t l, std::int64_t d, std::int64_t f) const {
    return of_layer[static_cast<std::size_t>(l)](d, f);
  }
  KOKKOS_FUNCTION float operator()(std::int64_t l, std::int64_t f) const {
    return of_layer[static_cast<std::size_t>(l)](f);
  }
};

template <class Make>
stacked stack(Make const& make) {
  return {{make(1), make(2), make(3), make(4)}};
}

int main(int argc, char** argv) {
  os::environment const env(argc, argv);
  int const n_stages = env.devices() < 4 ? env.devices() : 4;
  auto const mesh = os::make_mesh(batch = env.devices() / n_stages, stages = n_stages);
  auto const inputs = make_inputs<N/batch/stages, D>(mesh);
  auto const targets = make_targets<N/batch/stages, F>(mesh);
  auto const weights = make_weights<D, F>(mesh);
  auto const biases = make_biases<F>(mesh);
  auto const width = os::sizes(D = network::outputs_of(0), F = network::outputs_of(0));
  auto const inner_weights = os::generate<float, L/stages, D, F>(mesh, width, stack(network::weight));
  auto const inner_biases = os::generate<float, L/stages, F>(mesh, width, stack(network::bias));
  if (mesh.device() == 0)
    std::printf("%d stages, %d layer(s) per stage, 4 pipelined layers total\n", n_stages, 4 / n_stages);

  auto const loss = os::shard_map<>([&](auto x, auto t, auto W, auto b) {
    auto const layer = [](auto const& h, auto const& w, auto const& c) {
      auto const product = os::einsum<N, F>(h, w, os::sum_over(L));    // a layer of a stack: L has extent 1
      return os::rename<F, D>(os::map(network::relu{}, os::add(product, os::sum<F>(c))));
    };
    auto const first = layer(x, weights[0], biases[0]);
    auto const inner = os::pipeline<os::gpipe, L/stages, N>(os::microbatches = 4, layer, first, W, b);
    auto const y = os::add(os::einsum<N, F>(inner, weights[network::layers - 1]), biases[network::layers - 1]);
    return os::pmean<batch, stages>(os::mean<>(squared_errors(y, t)));
  }, inputs, targets, inner_weights, inner_biases);

  return verdict_of_loss(loss, mesh);
}
