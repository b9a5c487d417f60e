// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Fully sharded data parallelism: the parameters, too, are divided over the devices. A device gathers those of each
/// layer just before it uses them, and again where the backward needs them: it holds one gathered weight at a time. The
/// program asks for gradients that are sharded like the parameters, and no device gathers a gradient.
// ranks: 1 2 4 8
// labels: ci

#include "layers.hpp"

OSTRAKA_MESH_AXIS(batch);

template <class L>
struct parameters {
  std::array<os::leaf<L, double, D/batch, F>, network::layers> W;
  std::array<os::leaf<L, double, F/batch>, network::layers> b;
};
using inputs_type = os::tensor<double, N/batch, D>;
using targets_type = os::tensor<double, N/batch, F>;

/// With only 32 samples, gathering cotangents and exchanging inputs for some features of all samples moves fewer bytes
/// than reduce-scattering the gradients of weights.
auto in_the_global_view(auto const& p, auto const& inputs, auto const& targets) {
  auto const y = predict(inputs, [&](auto const& x, std::size_t l) {
    return os::einsum<N/batch, F>(x, os::reshard<D, F>(p.W[l])) + os::reshard<F>(p.b[l]);
  });
  return mean_of_squares(y, targets);
}

auto device_by_device(auto const& p, auto const& inputs, auto const& targets) {
  return os::shard_map<>([](auto x, auto t, auto W, auto b) {
    auto const y = predict(x, [&](auto const& h, std::size_t l) {
      return os::einsum<N, F>(h, os::all_gather<D/batch>(W[l])) + os::all_gather<F/batch>(b[l]);
    });
    return os::psum<batch>(mean_of_squares(y, t));
  }, inputs, targets, p.W, p.b);
}

int main(int argc, char** argv) {
  os::testing::count_operations_alone();
  os::environment const env(argc, argv);
  auto const mesh = os::make_mesh(batch = env.devices());
  std::int64_t const n = env.devices();
  std::int64_t const gathered = (n - 1) * (all_weights + all_biases);
  std::int64_t const gathered_again = (n - 1) * (all_weights - first_weight);  // the inputs need no cotangent
  training t;
  if (n > 1) t.expect_one_gathered_weight_of(first_weight, other_weight);
  t.run<parameters, inputs_type, targets_type>(
      "in the global view", mesh,
      os::checkpoint([](auto const& p, auto const& inputs, auto const& targets) {
        return in_the_global_view(p, inputs, targets);
      }, os::save_all_but_gathers));
  t.expect_moves(gathered + 2 * (n - 1),
                 gathered_again + (n - 1) * (network::batch * (all_inputs / n + all_outputs) + all_biases));
  t.run<parameters, inputs_type, targets_type>(
      "device by device", mesh,
      os::checkpoint([](auto const& p, auto const& inputs, auto const& targets) {
        return device_by_device(p, inputs, targets);
      }, os::save_all_but_gathers));
  t.expect_moves(gathered + 2 * (n - 1), gathered_again + (n - 1) * (all_weights + all_biases));
  return t.verdict();
}
