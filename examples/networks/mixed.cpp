// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Fully sharded data parallelism and tensor parallelism together, on a mesh of two axes: samples over batch,
/// activations over feats, and parameters over both, feats first: gathered over batch before their use, they are the
/// rows of this device along feats.
// ranks: 1 2 4 8
// labels: ci

#include "layers.hpp"

OSTRAKA_MESH_AXIS(batch);
OSTRAKA_MESH_AXIS(feats);

template <class L>
struct parameters {
  std::array<os::leaf<L, double, D/feats/batch, F>, network::layers> W;
  std::array<os::leaf<L, double, F/feats/batch>, network::layers> b;
};
using inputs_type = os::tensor<double, N/batch, D/feats>;
using targets_type = os::tensor<double, N/batch, F/feats>;

auto in_the_global_view(auto const& p, auto const& inputs, auto const& targets) {
  auto const y = predict(inputs, [&](auto const& x, std::size_t l) {
    auto const product = os::einsum<N/batch, F, os::partial(feats)>(x, os::reshard<D/feats, F>(p.W[l]));
    return os::reshard<N/batch, F/feats>(product) + os::reshard<F/feats>(p.b[l]);
  });
  return mean_of_squares(y, targets);
}

auto device_by_device(auto const& p, auto const& inputs, auto const& targets) {
  return os::shard_map<>([](auto x, auto t, auto W, auto b) {
    auto const y = predict(x, [&](auto const& h, std::size_t l) {
      auto const product = os::einsum<N, F>(h, os::all_gather<D/batch>(W[l]));
      return os::psum_scatter<F/feats>(product) + os::all_gather<F/batch>(b[l]);
    });
    return os::psum<batch, feats>(mean_of_squares(y, t));
  }, inputs, targets, p.W, p.b);
}

int main(int argc, char** argv) {
  os::testing::count_operations_alone();
  os::environment const env(argc, argv);
  int const halves = env.devices() % 2 == 0 ? 2 : 1;
  auto const mesh = os::make_mesh(batch = env.devices() / halves, feats = halves);
  std::int64_t const n = env.devices(), rows = n / halves;
  std::int64_t const gathered = (rows - 1) * (all_weights + all_biases);
  std::int64_t const gathered_again = (rows - 1) * (all_weights - first_weight);
  std::int64_t const products = (halves - 1) * network::batch * all_outputs;
  training t;
  if (rows > 1) t.expect_one_gathered_weight_of(first_weight / halves, other_weight / halves);
  t.run<parameters, inputs_type, targets_type>(
      "in the global view", mesh,
      os::checkpoint([](auto const& p, auto const& inputs, auto const& targets) {
        return in_the_global_view(p, inputs, targets);
      }, os::save_all_but_gathers));
  t.expect_moves(gathered + products + 2 * (n - 1),
                 gathered_again + products +
                     (rows - 1) * (network::batch * (all_inputs / rows + halves * all_outputs) + all_biases));
  t.run<parameters, inputs_type, targets_type>(
      "device by device", mesh,
      os::checkpoint([](auto const& p, auto const& inputs, auto const& targets) {
        return device_by_device(p, inputs, targets);
      }, os::save_all_but_gathers));
  t.expect_moves(gathered + products + 2 * (n - 1), gathered_again + products + gathered);
  return t.verdict();
}
