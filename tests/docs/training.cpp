// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The snippets of docs/training.md as the page prints them, run on 4 ranks: the network learns, microbatches give the
/// step of one batch, and a divided state that of a whole one.

#include <doctest/doctest.h>

#include <ostraka/gradient.hpp>
#include <ostraka/operations.hpp>
#include <ostraka/optimizers.hpp>
#include <cstdio>
namespace os = ostraka;

#include <ostraka/foresight.hpp>

#include <array>
#include <cstdint>

#include "support/on_meshes.hpp"

namespace t = os::testing;

namespace training {

OSTRAKA_AXIS(batch, os::about(128));
OSTRAKA_AXIS(in, 32);  OSTRAKA_AXIS(hidden, 64);  OSTRAKA_AXIS(out, 4);
OSTRAKA_MESH_AXIS(X);

template <class L>
struct mlp {
  os::leaf<L, float, in/X, hidden> w1;   // stored divided over X, and gathered where it is used
  os::leaf<L, float, hidden> b1;
  os::leaf<L, float, hidden/X, out> w2;
};

auto const loss = [](auto const& p, auto const& x, auto const& y) {
  auto const q = os::tree_cast<os::bfloat16>(p);                       // before the gathers: half the bytes
  auto const h = os::relu(os::einsum<batch/X, hidden>(x, os::reshard<in, hidden>(q.w1)) + q.b1);
  auto const e = os::cast<float>(os::einsum<batch/X, out>(h, os::reshard<hidden, out>(q.w2))) - y;
  return os::mean<>(os::multiply(e, e));
};

// The function to learn: y = |x v| of a hidden matrix v.
struct examples {
  os::tensor<os::bfloat16, batch/X, in> x;
  os::tensor<float, batch/X, out> y;
};

examples make_examples(auto const& mesh, std::int64_t n, std::uint64_t number) {
  auto const x = os::random<os::bfloat16, batch/X, in>(mesh, batch = n, os::seed(1000 + number));
  auto const v = os::random<float, in, out>(mesh, os::seed(7));
  return {x, os::abs(os::einsum<batch/X, out>(os::cast<float>(x), v))};
}

mlp<os::values> make_parameters(auto const& mesh) {
  return os::make_tree<mlp>(mesh, os::seed(1), [](auto const& leaf) {
    using tensor = typename std::remove_cvref_t<decltype(leaf)>::type;
    if constexpr (tensor::rank < 2)
      return os::zeros<tensor>(leaf.mesh(), leaf.sizes());
    else
      return os::scale(os::random<tensor>(leaf.mesh(), leaf.sizes(), leaf.seed()), 0.2f);
  });
}

double train(auto const& mesh, int steps) {
  auto const params = make_parameters(mesh);
  os::adamw const optimizer{
      .learning_rate = os::warm_up{.steps = 10, .then = os::cosine_decay{.from = 2e-2, .to = 1e-3, .steps = 90}},
      .weight_decay = 1e-3,
      .decays = os::decays_matrices};
  auto const state = optimizer.init(params);
  auto const step = os::value_and_grad(loss);
  double value = 0;
  for (int k = 0; k < steps; ++k) {
    auto const [x, y] = make_examples(mesh, 128, static_cast<std::uint64_t>(k));
    auto const [now, gradients] = step(params, x, y);
    os::clip_by_global_norm(gradients, 1.0);
    optimizer.update(params, gradients, state);
    value = os::value(now);
  }
  return value;
}

int main(int argc, char** argv) {
  os::environment env(argc, argv);
  auto const mesh = os::make_mesh(X = env.devices());
  double const last = train(mesh, 100);
  if (mesh.device() == 0) std::printf("loss %.4f\n", last);
  return 0;
}

auto const loss_in_regions = [](auto const& p, auto const& x, auto const& y) {
  auto const layer = os::checkpoint(
      [](auto const& w, auto const& b, auto const& a) {
        auto const h = os::einsum<batch/X, hidden>(a, os::reshard<in, hidden>(os::cast<os::bfloat16>(w)));
        return os::relu(os::checkpoint_name(h, "h") + os::cast<os::bfloat16>(b));
      },
      os::save_names("h"));                                            // h is kept, and nothing else of the layer
  auto const h = layer(p.w1, p.b1, x);
  auto const w = os::reshard<hidden, out>(os::cast<os::bfloat16>(p.w2));
  auto const e = os::cast<float>(os::einsum<batch/X, out>(h, w)) - y;
  return os::mean<>(os::multiply(e, e));
};

constexpr auto plan =
    os::gradient_plan<mlp<os::values>, os::tensor<os::bfloat16, batch/X, in>, os::tensor<float, batch/X, out>>(
        loss_in_regions);
static_assert(plan.forward.count(os::step::all_gather) == 2);          // w1 and w2, of 16 bits
static_assert(plan.backward.count(os::step::all_gather) == 1);         // w1, in the region that runs again
static_assert(plan.backward.count(os::step::reduce_scatter) == 2);     // their gradients
static_assert(plan.count(os::step::all_reduce) == 2);                  // the loss, and b1's gradient
static_assert(plan.unpriced() == 0 && plan.total_bytes(batch = 128, X = 4) == 40728);

}  // namespace training

TEST_CASE("a network learns") {
  using namespace training;
  auto const mesh = os::make_mesh(training::X = t::ranks());
  double const first = train(mesh, 1), last = train(mesh, 100);
  CAPTURE(first);
  CAPTURE(last);
  CHECK(last < 0.2 * first);
}

namespace training {

template <class L>
struct whole_mlp {
  os::leaf<L, float, in, hidden> w1;
  os::leaf<L, float, hidden> b1;
  os::leaf<L, float, hidden, out> w2;
};

whole_mlp<os::values> of_microbatches(auto const& params, auto const& microbatches) {
  auto const step = os::value_and_grad<os::deferred_over<X>>(loss);
  whole_mlp<os::deferred_over<X>> sum;                       // [in, hidden] {U_X}, …
  for (auto const& [x, y] : microbatches) {
    auto const g = step(params, x, y).gradient;              // moves the loss alone
    if (sum.w1.mesh_handle() == nullptr)
      sum = g;
    else
      os::accumulate(sum, g);                                // in place
  }
  return os::tree_reshard<os::values>(sum);                  // one all-reduce a leaf
}

void update_divided(auto const& params, auto const& gradients) {
  os::adam const optimizer{.learning_rate = 1e-3};
  auto const state = optimizer.init(params, os::split_over<X>);     // ZeRO, stage 1: a device has 1/X of m and v
  optimizer.update(params, gradients, state);                       // {U_X} → reduce-scatter, update, gather
}

bool update_scaled(os::loss_scale& scaling, auto const& optimizer, auto const& params, auto const& state,
                   auto const& x, auto const& y) {
  auto const [value, g] = os::value_and_grad([&](auto const& p, auto const& a, auto const& b) {
    return scaling(loss(p, a, b));
  })(params, x, y);
  bool const finite = scaling.unscale(g);
  if (finite) optimizer.update(params, g, state);
  return finite;
}

}  // namespace training

TEST_CASE("a region gives the gradient of the program without it") {
  using namespace training;
  auto const mesh = os::make_mesh(training::X = t::ranks());
  auto const params = make_parameters(mesh);
  auto const [x, y] = make_examples(mesh, 64, 1);
  auto const with = os::value_and_grad(loss_in_regions)(params, x, y).gradient;
  auto const without = os::value_and_grad(loss)(params, x, y).gradient;
  auto const difference = os::tree_map([](auto const& a, auto const& b) { return os::subtract(a, b); }, with, without);
  CHECK(os::global_norm(difference) <= 0.02 * os::global_norm(without));  // of 16 bits
}

TEST_CASE("microbatches, divided states and scaled losses") {
  using namespace training;
  auto const mesh = os::make_mesh(training::X = t::ranks());
  auto const stored = make_parameters(mesh);
  auto const params = [&] {
    return whole_mlp<os::values>{os::reshard<in, hidden>(stored.w1), os::copy(stored.b1),
                                 os::reshard<hidden, out>(stored.w2)};
  };
  std::array<examples, 4> const microbatches{make_examples(mesh, 64, 1), make_examples(mesh, 64, 2),
                                             make_examples(mesh, 64, 3), make_examples(mesh, 64, 4)};
  auto const once = of_microbatches(params(), microbatches);
  auto const each = os::value_and_grad(loss)(params(), microbatches[0].x, microbatches[0].y).gradient;
  for (std::size_t k = 1; k < 4; ++k)
    os::accumulate(each, os::value_and_grad(loss)(params(), microbatches[k].x, microbatches[k].y).gradient);
  double const norm = os::global_norm(each);
  auto const difference = os::tree_map([](auto const& a, auto const& b) { return os::subtract(a, b); }, once, each);
  CHECK(os::global_norm(difference) <= 0.02 * norm);  // of 16 bits, added in another order

  auto const a = params(), b = params();
  update_divided(a, once);
  os::adam const optimizer{.learning_rate = 1e-3};
  auto const state = optimizer.init(b);
  optimizer.update(b, once, state);
  CHECK(os::global_norm(os::tree_map([](auto const& x, auto const& y) { return os::subtract(x, y); }, a, b)) == 0);

  os::loss_scale scaling;
  CHECK(update_scaled(scaling, optimizer, a, state, microbatches[0].x, microbatches[0].y));
}

namespace training {

OSTRAKA_AXIS(vocabulary, 16);
OSTRAKA_AXIS(depth);
OSTRAKA_MESH_AXIS(P);

template <class L>
struct stacked_layers {
  os::leaf<L, float, vocabulary, in> table;
  os::leaf<L, float, depth/P, in, hidden> layers;
  os::leaf<L, float, in, out> head;
};

TEST_CASE("a pipeline with its loss inside") {
  if (t::ranks() % 2 != 0) return;                                     // two stages
  auto const mesh = os::make_mesh(X = t::ranks() / 2, P = 2);
  auto const params = os::make_tree<stacked_layers>(mesh, depth = 4, os::seed(1), [](auto const& leaf) {
    using tensor = typename std::remove_cvref_t<decltype(leaf)>::type;
    return os::scale(os::random<tensor>(leaf.mesh(), leaf.sizes(), leaf.seed()), 0.1f);
  });
  auto const tokens = os::generate<std::int32_t, batch/X>(
      mesh, batch = 32, [](std::int64_t n) { return static_cast<std::int32_t>(5 * n % 16); });
  auto const next = os::generate<std::int32_t, batch/X>(
      mesh, batch = 32, [](std::int64_t n) { return static_cast<std::int32_t>(n % 4); });
  auto const layer = [](auto const& h, auto const& w) {
    auto const inner = os::relu(os::einsum<batch/X, hidden>(h, w, os::sum_over(depth)));
    return h + os::einsum<batch/X, in>(inner, w, os::sum_over(depth));
  };
  auto const loss_of_rows = [](auto const& h, auto const& head, auto const& classes) {
    return os::mean<>(os::cross_entropy<out>(os::einsum<batch/X, out>(h, head), classes));
  };
  auto const loss_in_stages = [&](auto const& p, auto const& words, auto const& classes) {
    auto const x = os::defer_over<P>(os::take<vocabulary, batch/X, in>(p.table, words));
    return os::pipeline_loss<os::one_forward_one_backward, depth/P, batch>(os::microbatches = 8, layer, p.layers,
                                                                           loss_of_rows, p.head, x, classes);
  };
  auto const [value, gradients] = os::value_and_grad(loss_in_stages)(params, tokens, next);
  auto const x = os::take<vocabulary, batch/X, in>(params.table, tokens);
  auto const y = os::pipeline<os::gpipe, depth/P, batch>(os::microbatches = 8, layer, x, params.layers);
  CHECK(std::abs(os::value(value) - os::value(loss_of_rows(y, params.head, next))) < 1e-5);
  CHECK(os::global_norm(gradients) > 0);
}

}  // namespace training
