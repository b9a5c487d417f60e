// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Data parallelism: every device has all parameters and its own samples. The program asks for gradients that are the
/// same on all devices, as the parameters are, and so they are summed over the devices. In a body this is one
/// all-reduce per parameter; in the global view it is planned.
// ranks: 1 2 4 8
// labels: ci

#include "layers.hpp"

OSTRAKA_MESH_AXIS(batch);

template <class L>
struct parameters {
  std::array<os::leaf<L, double, D, F>, network::layers> W;
  std::array<os::leaf<L, double, F>, network::layers> b;
};
using inputs_type = os::tensor<double, N/batch, D>;
using targets_type = os::tensor<double, N/batch, F>;

/// With only 32 samples, gathering the factors of a weight's gradient moves fewer bytes than reducing the gradient.
auto in_the_global_view(auto const& p, auto const& inputs, auto const& targets) {
  auto const y = predict(inputs, [&](auto const& x, std::size_t l) {
    return os::einsum<N/batch, F>(x, p.W[l]) + p.b[l];
  });
  return mean_of_squares(y, targets);
}

auto device_by_device(auto const& p, auto const& inputs, auto const& targets) {
  return os::shard_map<>([](auto x, auto t, auto W, auto b) {
    auto const y = predict(x, [&](auto const& h, std::size_t l) { return os::einsum<N, F>(h, W[l]) + b[l]; });
    return os::psum<batch>(mean_of_squares(y, t));
  }, inputs, targets, p.W, p.b);
}

int main(int argc, char** argv) {
  os::testing::count_operations_alone();
  os::environment const env(argc, argv);
  auto const mesh = os::make_mesh(batch = env.devices());
  std::int64_t const n = env.devices();
  training t;
  t.run<parameters, inputs_type, targets_type>(
      "in the global view", mesh,
      [](auto const& p, auto const& inputs, auto const& targets) { return in_the_global_view(p, inputs, targets); });
  t.expect_moves(2 * (n - 1), (n - 1) * (network::batch * (all_inputs + all_outputs) + 2 * all_biases));
  t.run<parameters, inputs_type, targets_type>(
      "device by device", mesh,
      [](auto const& p, auto const& inputs, auto const& targets) { return device_by_device(p, inputs, targets); });
  // On eight devices this is 14 B per device for the loss and 2,345,840 for the gradients; floats need half of that.
  t.expect_moves(2 * (n - 1), 2 * (n - 1) * (all_weights + all_biases));
  return t.verdict();
}
