// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The encoder of plan/program/layers.hpp against the same layer in C++, forward and backward: attention and a
/// feed-forward layer behind norms, with residuals, under the rules of several strategies. The price of the program
/// equals the figures of os::cost_of on a dry mesh, over every set of mesh axes; its memory is near the counted one.
// ranks: 1

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include <ostraka/foresight/cost_of.hpp>
#include <ostraka/foresight/search_rules.hpp>
#include <ostraka/gradient.hpp>
#include <ostraka/meshes/dry_mesh.hpp>
#include <ostraka/operations.hpp>
#include <ostraka/plan/program/layers.hpp>
#include <ostraka/plan/rule_search/ranked_rules.hpp>
#include <ostraka/tensors/rules.hpp>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace planner = os::planner;

namespace priced {

// Plans are made for these sizes on both sides.
OSTRAKA_AXIS(batch, 16);
OSTRAKA_AXIS(position, 32);
OSTRAKA_AXIS(key, 32);
OSTRAKA_AXIS(between, 32);
OSTRAKA_AXIS(width, 64);
OSTRAKA_AXIS(block, 64);
OSTRAKA_AXIS(rows, 64);
OSTRAKA_AXIS(inner, 128);
OSTRAKA_AXIS(heads, 8);
OSTRAKA_AXIS(head, 8);
OSTRAKA_MESH_AXIS(P, 4);
OSTRAKA_MESH_AXIS(Q, 2);

namespace {

template <class Rules>
struct of {
  static constexpr Rules R{};
  template <class Leaves>
  struct layer {
    os::leaf<Leaves, float, R(batch, between, width)> x;
    os::leaf<Leaves, float, R(rows, heads, head)> q, k, v;
    os::leaf<Leaves, float, R(heads, head, rows)> out;
    os::leaf<Leaves, float, R(rows, inner)> up;
    os::leaf<Leaves, float, R(inner, rows)> down;
    os::leaf<Leaves, float, width> gain, inner_gain;
  };
};

// The result of a norm, as products take it. Each product has a part of its cotangent; they are added first.
template <class Rules>
auto entered(auto const& norm) {
  constexpr Rules R{};
  auto const named = os::rename<between, position>(os::rename<width, block>(norm));
  return os::defer_over<P, Q>(os::reshard<R(batch, position, block)>(named));
}

// The sum of x and a product whose sums are still partial.
template <class Rules>
auto added(auto const& x, auto const& product) {
  constexpr Rules R{};
  auto const named = os::rename<position, between>(os::rename<block, width>(product));
  return x + os::reshard<R(batch, between, width)>(named);
}

template <class Rules, auto Summed>
auto last_product(auto const& a, auto const& w) {
  constexpr Rules R{};
  if constexpr (Summed.size == 0)
    return os::einsum<R(batch, position, block)>(a, w);
  else
    return os::einsum<R(batch, position, block), Summed.parts>(a, w);
}

struct no_sums {
  static constexpr int size = 0;
};
struct sums_over_q {
  static constexpr int size = 1;
  static constexpr auto parts = os::partial(Q);
};

template <class Rules, auto Summed>
struct loss_of {
  auto operator()(auto const& p) const {
    constexpr Rules R{};
    auto const weights = [](auto const& w) { return os::rename<rows, block>(w); };
    auto const h = entered<Rules>(os::rms_norm<R(width)>(p.x, p.gain));
    auto const q = os::einsum<R(batch, position, heads, head)>(h, weights(p.q));
    auto const k = os::einsum<R(batch, position, heads, head)>(h, weights(p.k));
    auto const v = os::einsum<R(batch, position, heads, head)>(h, weights(p.v));
    auto const whole = [](auto const& a) {
      constexpr Rules U{};
      return os::reshard<U(batch, key, heads, head)>(os::rename<position, key>(a));
    };
    auto const o = os::attention<position, key, head>(q, whole(k), whole(v));
    auto const y = added<Rules>(p.x, last_product<Rules, Summed>(o, weights(p.out)));
    auto const n = entered<Rules>(os::rms_norm<R(width)>(y, p.inner_gain));
    auto const a = os::gelu(os::einsum<R(batch, position, inner)>(n, weights(p.up)));
    auto const z = added<Rules>(y, last_product<Rules, Summed>(a, weights(p.down)));
    return os::sum<>(z);
  }
};

planner::program layer_in_data() {
  planner::program_builder p("layer");
  p.axis("batch", 16).axis("position", 32).axis("between", 32).axis("width", 64).axis("block", 64).axis("rows", 64);
  p.axis("inner", 128).axis("heads", 8).axis("key", 32, {.whole = true}).axis("head", 8, {.whole = true});
  p.axis("gains", 64, {.whole = true});
  p.carried("x[batch, between, width]").parameter("q[rows, heads, head]").parameter("k[rows, heads, head]");
  p.parameter("v[rows, heads, head]").parameter("out[heads, head, rows]").parameter("up[rows, inner]");
  p.parameter("down[inner, rows]").parameter("gain[gains]").parameter("inner gain[gains]");
  p.operation("norm[batch, between, width]", {"x", "gain[width]"}, {.rows = {"width"}});
  p.deferred("h[batch, position, block]", "norm[batch, position, block]");
  p.einsum("queries[batch, position, heads, head]", {"h", "q[block, heads, head]"});
  p.einsum("keys[batch, position, heads, head]", {"h", "k[block, heads, head]"});
  p.einsum("values[batch, position, heads, head]", {"h", "v[block, heads, head]"});
  p.operation("o[batch, position, heads, head]",
              {"queries", "keys[batch, key, heads, head]", "values[batch, key, heads, head]"},
              {.whole = {"key", "head"}});
  p.partial_einsum("projected[batch, position, block]", {"o", "out[heads, head, block]"});
  p.move("projected moved[batch, between, width]", "projected[batch, between, width]");
  p.operation("y[batch, between, width]", {"x", "projected moved"}, {.keeps = false});
  p.operation("inner norm[batch, between, width]", {"y", "inner gain[width]"}, {.rows = {"width"}});
  p.deferred("n[batch, position, block]", "inner norm[batch, position, block]");
  p.einsum("b[batch, position, inner]", {"n", "up[block, inner]"}).operation("a[batch, position, inner]", {"b"});
  p.partial_einsum("made[batch, position, block]", {"a", "down[inner, block]"});
  p.move("made moved[batch, between, width]", "made[batch, between, width]");
  p.operation("z[batch, between, width]", {"y", "made moved"}, {.keeps = false});
  p.einsum("loss[]", {"z"});
  return p;
}

template <class R, class A>
planner::mesh_order order_under(A axis) {
  return os::spec_of<os::sharding_of<R{}(axis)>, os::type_list<A>, os::type_list<P_mesh, Q_mesh>>.over[0];
}

template <class R, auto Summed = no_sums{}>
void costs_what_is_priced(char const* name) {
  std::array<double, 4> counted{};
  double peak = 0;
  for (int device = 0; device < 8; ++device) {
    auto const m = os::dry_mesh(os::as_device(device), P = 4, Q = 2);
    auto const p = os::make_tree<of<R>::template layer>(m, os::seed(1), [](auto const& leaf) {
      using tensor = typename std::remove_cvref_t<decltype(leaf)>::type;
      return os::random<tensor>(leaf.mesh(), leaf.sizes(), leaf.seed());
    });
    auto const c = os::cost_of(m, [&] { static_cast<void>(os::value_and_grad(loss_of<R, Summed>{})(p)); });
    peak = std::max(peak, static_cast<double>(c.peak_memory));
    for (std::size_t set = 1; set < 4; ++set) counted[set] += static_cast<double>(c.over[set].bytes);
  }
  planner::program const p = layer_in_data();
  planner::device_mesh const mesh = planner::mesh_on(os::machines::h100, {"P", "Q"}, {4, 2});
  planner::program_flow const flow(p);
  planner::plan_table plans;
  planner::statement_prices prices(flow, mesh, os::machines::h100, {}, plans);
  planner::tensor_memory memory(flow, prices, {});
  planner::axis_rules const rules{order_under<R>(batch), order_under<R>(position), order_under<R>(between),
                                  order_under<R>(width), order_under<R>(block),    order_under<R>(rows),
                                  order_under<R>(inner), order_under<R>(heads),    {},
                                  {},                    {}};
  planner::ranked_rules const r = planner::price_program(flow, mesh, rules, prices, memory, {});
  INFO(name);
  CHECK(counted[1] + counted[2] + counted[3] > 0);
  for (std::size_t set = 1; set < 4; ++set)
    CHECK(counted[set] == doctest::Approx(8 * r.bytes_over[set]).epsilon(1e-12));
  // A model: it does not know which tensors of a step are held at the same time.
  double const held = r.memory.gradients + r.memory.activations + r.memory.workspace;
  CHECK(held > 0.75 * peak);
  CHECK(held < 1.3 * peak);
}

}  // namespace

TEST_CASE("a layer under the rules of several strategies") {
  costs_what_is_priced<os::rules<batch/P/Q>>("data");
  costs_what_is_priced<os::rules<batch/P/Q, rows/P>>("hybrid sharded");
  costs_what_is_priced<os::rules<batch/P, rows/P, inner/Q, heads/Q>, sums_over_q{}>("fully sharded, tensor");
  costs_what_is_priced<os::rules<batch/P, rows/P, between/Q, inner/Q, heads/Q>, sums_over_q{}>("with sequences");
  costs_what_is_priced<os::rules<batch/P, rows/P, width/Q, inner/Q, heads/Q>, sums_over_q{}>("two-dimensional");
  costs_what_is_priced<os::rules<batch/P, position/Q, between/Q>>("context");
}

}  // namespace priced
