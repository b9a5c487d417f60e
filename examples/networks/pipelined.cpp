// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Pipeline parallelism: the four layers between the first and the last are alike, so they are stacked and divided over
/// two stages; four microbatches go through them, and their cotangents back. The other mesh axis divides the samples
/// among the devices of a stage. Each device works on the first and the last layer for its own samples.
// ranks: 1 2 4 8
// labels: ci

#include "layers.hpp"

OSTRAKA_AXIS(L, network::layers - 2);
OSTRAKA_MESH_AXIS(batch);
OSTRAKA_MESH_AXIS(stages);

template <class Leaves>
struct parameters {
  std::array<os::leaf<Leaves, double, D, F>, 2> W;
  std::array<os::leaf<Leaves, double, F>, 2> b;
  os::leaf<Leaves, double, L/stages, D, F> inner_W;
  os::leaf<Leaves, double, L/stages, F> inner_b;
};
using inputs_type = os::tensor<double, N/batch/stages, D>;
using targets_type = os::tensor<double, N/batch/stages, F>;

auto device_by_device(auto const& p, auto const& inputs, auto const& targets) {
  return os::shard_map<>([](auto x, auto t, auto W, auto b, auto inner_W, auto inner_b) {
    auto const layer = [](auto const& h, auto const& w, auto const& c) {
      return os::rename<F, D>(os::map(relu{}, os::einsum<N, F>(h, w, os::sum_over(L)) + os::sum<F>(c)));
    };
    auto const first = layer(x, W[0], b[0]);
    auto const inner = os::pipeline<os::gpipe, L/stages, N>(os::microbatches = 4, layer, first, inner_W, inner_b);
    auto const y = os::einsum<N, F>(inner, W[1]) + b[1];
    return os::psum<batch, stages>(mean_of_squares(y, t));
  }, inputs, targets, p.W, p.b, p.inner_W, p.inner_b);
}

int main(int argc, char** argv) {
  os::testing::count_operations_alone();
  os::environment const env(argc, argv);
  int const n_stages = env.devices() % 2 == 0 ? 2 : 1;
  auto const mesh = os::make_mesh(batch = env.devices() / n_stages, stages = n_stages);
  if (mesh.device() == 0)
    std::printf("%d stages, %d layer(s) per stage, 4 pipelined layers total\n", n_stages, 4 / n_stages);
  training t;
  t.run<parameters, inputs_type, targets_type>(
      "device by device", mesh,
      [](auto const& p, auto const& inputs, auto const& targets) { return device_by_device(p, inputs, targets); });
  // All samples go from the first stage to the last; half of them come there from the last one, and return to it after.
  std::int64_t const n = env.devices(), rows = n / n_stages;
  std::int64_t const activations = (n_stages - 1) * 2 * network::batch * network::outputs_of(0);
  std::int64_t const inner = 4 * (other_weight + 128), ends = all_weights + all_biases - inner;
  t.expect_moves(activations + 2 * (n - 1), activations + 2 * (n - 1) * ends + 2 * (rows - 1) * inner);
  return t.verdict();
}
