// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// A program as data against the same program in C++: forward and backward of a feed-forward layer under several sets
/// of rules. The price of the former equals the figures of os::cost_of for the latter on a dry mesh, over every set of
/// mesh axes: bytes and flops, exactly.
// ranks: 1
// sham:

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include <ostraka/foresight/cost_of.hpp>
#include <ostraka/gradient.hpp>
#include <ostraka/meshes/dry_mesh.hpp>
#include <ostraka/operations.hpp>
#include <ostraka/plan/hardware/machines.hpp>
#include <ostraka/plan/pricing/program_price.hpp>
#include <ostraka/plan/program/build.hpp>
#include <ostraka/tensors/rules.hpp>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace planner = os::planner;

namespace priced {

// Plans are made for these sizes on both sides.
OSTRAKA_AXIS(batch, 64);
OSTRAKA_AXIS(width, 32);  // of activations
OSTRAKA_AXIS(rows, 32);   // the same in weights
OSTRAKA_AXIS(inner, 128);
OSTRAKA_MESH_AXIS(P, 4);
OSTRAKA_MESH_AXIS(Q, 2);

namespace {

using mesh_axes = os::type_list<P_mesh, Q_mesh>;

template <class Storage>
struct stored {
  static constexpr Storage R{};
  template <class Leaves>
  struct layer {
    os::leaf<Leaves, float, R(rows, inner)> up;
    os::leaf<Leaves, float, R(inner)> bias;
    os::leaf<Leaves, float, R(inner, rows)> down;
  };
};

template <class Storage>
auto parameters(auto const& mesh) {
  return os::make_tree<stored<Storage>::template layer>(mesh, os::seed(1), [](auto const& leaf) {
    using tensor = typename std::remove_cvref_t<decltype(leaf)>::type;
    return os::random<tensor>(leaf.mesh(), leaf.sizes(), leaf.seed());
  });
}

// The mesh axes that divide each axis, by number: P is 0, Q is 1.
template <class R, class A>
planner::mesh_order order_under(A axis) {
  return os::spec_of<os::sharding_of<R{}(axis)>, os::type_list<A>, mesh_axes>.over[0];
}
template <class R, class... Axes>
planner::axis_rules rules_of(Axes... axes) {
  return {order_under<R>(axes)...};
}

auto const machine = planner::machines::h100;

// `program(mesh)` on every device of a dry mesh.
void costs_what_is_priced(auto const& program, planner::program const& p, planner::axis_rules const& rules,
                          planner::step_settings const& how = {}) {
  double counted[4]{};
  double counted_flops = 0;
  for (int device = 0; device < 8; ++device) {
    auto const m = os::dry_mesh(os::as_device(device), P = 4, Q = 2);
    auto const c = program(m);
    for (std::size_t set = 1; set < 4; ++set) counted[set] += static_cast<double>(c.over[set].bytes);
    counted_flops += static_cast<double>(c.flops);
  }
  planner::device_mesh const mesh = planner::mesh_on(machine, {"P", "Q"}, {4, 2});
  planner::program_flow const flow(p);
  planner::plan_table plans;
  planner::statement_prices prices(flow, mesh, machine, how, plans);
  double bytes[4]{};
  double flops = 0;
  for (int s = 0; s < static_cast<int>(p.statements.size()); ++s) {
    planner::statement_price const price = prices.price(s, rules);
    CHECK(price.feasible);
    flops += price.flops;
    for (planner::priced_collective const& c : price.collectives) bytes[c.axes.bits] += c.bytes;
  }
  for (std::size_t set = 1; set < 4; ++set) CHECK(counted[set] == doctest::Approx(8 * bytes[set]).epsilon(1e-12));
  CHECK(counted_flops == 8 * flops);
}

planner::program layer_and_loss(bool moved) {
  planner::program_builder p("feed-forward");
  p.axis("batch", 64).axis("width", 32).axis("rows", 32).axis("inner", 128);
  if (moved) p.axis("stored rows", 32).axis("stored inner", 128);
  p.input("x[batch, width]");
  if (moved) {
    p.parameter("stored up[stored rows, stored inner]").parameter("stored bias[stored inner]");
    p.parameter("stored down[stored inner, stored rows]");
    p.move("up[rows, inner]", "stored up[rows, inner]").move("down[inner, rows]", "stored down[inner, rows]");
    p.move("bias[inner]", "stored bias[inner]");
  } else {
    p.parameter("up[rows, inner]").parameter("bias[inner]").parameter("down[inner, rows]");
  }
  p.einsum("a[batch, inner]", {"x", "up[width, inner]"});
  p.operation("s[batch, inner]", {"a", "bias"}, {.keeps = false});
  p.operation("g[batch, inner]", {"s"}, {.flops = 10});
  p.einsum("y[batch, width]", {"g", "down[inner, width]"});
  p.operation("z[batch, width]", {"y"});
  p.einsum("loss[]", {"z"});
  return p;
}

// Weights are multiplied as they are stored, and the planner decides what is moved.
template <class R>
void as_stored() {
  auto const loss = [](auto const& w, auto const& data) {
    constexpr R U{};
    auto const a = os::einsum<U(batch, inner)>(data, os::rename<rows, width>(w.up));
    auto const g = os::gelu(a + w.bias);
    return os::mean<>(os::square(os::einsum<U(batch, width)>(g, os::rename<rows, width>(w.down))));
  };
  auto const program = [&](auto const& m) {
    auto const p = parameters<R>(m);
    auto const x = os::zeros<float, R{}(batch, width)>(m);
    return os::cost_of(m, [&] { static_cast<void>(os::value_and_grad(loss)(p, x)); });
  };
  costs_what_is_priced(program, layer_and_loss(false), rules_of<R>(batch, width, rows, inner));
}

// Weights are stored under one set of rules and moved to another for use; cotangents of operands that several products
// take are added before they are reduced.
template <class Storage, class Use>
void as_they_are_used() {
  auto const loss = [](auto const& w, auto const& data) {
    constexpr Use U{};
    auto const up = os::rename<rows, width>(os::reshard<U(rows, inner)>(w.up));
    auto const down = os::rename<rows, width>(os::reshard<U(inner, rows)>(w.down));
    auto const a = os::einsum<U(batch, inner)>(data, up);
    auto const g = os::gelu(a + os::reshard<U(inner)>(w.bias));
    return os::mean<>(os::square(os::einsum<U(batch, width)>(g, down)));
  };
  auto const program = [&](auto const& m) {
    auto const p = parameters<Storage>(m);
    auto const x = os::zeros<float, Use{}(batch, width)>(m);
    return os::cost_of(m, [&] { static_cast<void>(os::value_and_grad(loss)(p, x)); });
  };
  planner::axis_rules rules = rules_of<Use>(batch, width, rows, inner);
  for (planner::mesh_order o : rules_of<Storage>(rows, inner)) rules.push_back(o);
  costs_what_is_priced(program, layer_and_loss(true), rules);
  auto const again = [&](auto const& m) {
    auto const p = parameters<Storage>(m);
    auto const x = os::zeros<float, Use{}(batch, width)>(m);
    auto const region = os::checkpoint(loss, os::save_all_but_gathers);
    return os::cost_of(m, [&] { static_cast<void>(os::value_and_grad(region)(p, x)); });
  };
  costs_what_is_priced(again, layer_and_loss(true), rules, {.kept = planner::keeping::all_but_gathers});
}

}  // namespace

TEST_CASE("weights are multiplied as they lie") {
  as_stored<os::rules<>>();
  as_stored<os::rules<batch/P>>();
  as_stored<os::rules<batch/P/Q>>();
  as_stored<os::rules<batch/P, inner/Q>>();
  as_stored<os::rules<batch/P, rows/P>>();
  as_stored<os::rules<batch/P, rows/P, inner/Q>>();
  as_stored<os::rules<batch/P, width/Q, rows/P, inner/Q>>();
  as_stored<os::rules<width/P, rows/P, inner/Q>>();
  as_stored<os::rules<batch/P/Q, rows/P/Q>>();
  as_stored<os::rules<inner/P/Q>>();
  as_stored<os::rules<batch/Q, inner/P, rows/Q>>();
}

TEST_CASE("weights are stored under one set of rules and used under another") {
  as_they_are_used<os::rules<rows/P>, os::rules<batch/P>>();
  as_they_are_used<os::rules<rows/P, inner/Q>, os::rules<batch/P, inner/Q>>();
  as_they_are_used<os::rules<rows/P/Q>, os::rules<batch/P/Q>>();
  as_they_are_used<os::rules<rows/P, inner/Q>, os::rules<batch/P/Q>>();
  as_they_are_used<os::rules<inner/Q>, os::rules<batch/P, inner/Q>>();
}

}  // namespace priced
