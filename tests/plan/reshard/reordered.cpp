// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// timeout: 600

/// @file
/// Reshards whose target names the labels in another order, executed on a simulated mesh: every sharding to every other
/// and every order of labels, uneven and empty extents included: T[I_?, J_?] → T[J_?, I_?]. They move what the reshard
/// in the source's order moves, no device takes more memory than is predicted, and no device copies an element more
/// than once before it is sent and once after it has arrived: there is no pass that only transposes.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <ostraka/plan/reshard/reorder_labels.hpp>
#include <ostraka/plan/spec/stored_plan.hpp>
#include <ostraka/plan/workspace/memory_use.hpp>
#include <support/simulated_mesh.hpp>
#include <support/simulated_run.hpp>

#include "plan/every_spec.hpp"

using namespace ostraka::testing;
using ostraka::communicates;
using ostraka::step;
using ostraka::planner::plan_reordering_reshard;
using ostraka::planner::plan_reshard;
using ostraka::planner::reordered;
using ostraka::planner::reshard_steps;
using ostraka::planner::same_order;

namespace {

struct counts {
  std::int64_t cases = 0;
  std::int64_t wrong = 0;
};

// The tensor with its labels in the order of `to`.
whole_tensor transposed(whole_tensor const& from, spec const& source, spec const& to, extents const& e) {
  whole_tensor t(to, e);
  for_each(t.all, [&](position const& at) {
    position there{};
    for (int i = 0; i < to.rank; ++i) there[source.find(to.label[i])] = at[i];
    t[at] = from[there];
  });
  return t;
}

einsum_plan plan_of(spec const& from, spec const& to, reshard_steps const& steps, extents const& e) {
  einsum_plan p;
  p.operands.push_back(from);
  p.result = to;
  p.sizes = e;
  p.feasible = true;
  for (planned_step s : steps) {
    s.operand = ostraka::planner::the_result;
    p.steps.push_back(s);
  }
  return p;
}

// The fault of what a device does, or "".
char const* fault_of(simulated_device const& d, einsum_plan const& plan,
                     ostraka::planner::memory_use const& predicted) {
  if (d.todo.workspace >
      predicted.peak + 8 * static_cast<std::int64_t>(d.todo.buffers.size()))  // places are rounded up
    return "a device takes more memory than is predicted";
  if (plan.steps.empty()) return "";
  planned_step const& last = plan.steps[plan.steps.size() - 1];
  bool const moves = communicates(last.kind) && plan.sizes.ways(last.axes) > 1;
  for (ostraka::planner::stage const& s : d.todo.stages)
    if (moves && s.step == plan.steps.size()) return "a pass of its own puts the result into its place";
  return "";
}

void check(spec const& from, spec const& to, whole_tensor const& whole, sharded_tensor const& blocks, extents const& e,
           scalars call, simulated_run& run, counts& n) {
  constexpr int order[ostraka::planner::max_mesh_axes] = {1, 2, 0, 3, 4, 5};
  simulated_mesh mesh(e);
  reshard_steps const steps = plan_reordering_reshard(from, to, e);
  reshard_steps const straight = plan_reshard(from, reordered(to, from), e);
  einsum_plan const plan = plan_of(from, to, steps, e);
  mesh.expect(steps.size() == straight.size(), "another number of steps than in the source's order");
  for (int i = 0; i < std::min(steps.size(), straight.size()); ++i)
    mesh.expect(steps[i].kind == straight[i].kind && steps[i].axes == straight[i].axes &&
                    elements_moved(steps[i], e) == elements_moved(straight[i], e),
                "another step than in the source's order");

  sharded_tensor t = blocks;
  t.sharding = to;
  t.block.clear();
  t.device.assign(blocks.device.size(), whole_tensor(to, e));
  run.begin(blocks.block.size());
  auto const operands = dense_blocks(blocks);
  for (std::size_t d = 0; d < operands.size(); ++d) {
    t.block.push_back(mesh.block_of(to, d));
    run.devices[d].operands = {operands[d]};
    run.devices[d].result.assign(static_cast<std::size_t>(t.block[d].size()), poison);
  }
  run.lower(plan, ostraka::planner::decide(plan, e), e, call, order, ostraka::planner::measured);
  run.run();
  mesh.expect(run.error.empty(), run.error.c_str());
  if (mesh.error.empty()) run.results_to(t);
  mesh.expect_holds(t, transposed(whole, from, to, e), to);
  mesh.expect(run.moved == plan.elements_moved(e), "the plan predicts another volume than was moved");
  ostraka::planner::memory_use const predicted = memory_of(plan, e);
  for (simulated_device const& d : run.devices) {
    char const* const fault = fault_of(d, plan, predicted);
    mesh.expect(*fault == 0, fault);
  }
  ++n.cases;
  if (!mesh.error.empty() && ++n.wrong <= 5)
    MESSAGE(mesh.error, ": ", text_of(from, "ijk"), " -> ", text_of(to, "ijk"), "  ", text_of(e, "ijk"),
            text_of(steps, "ijk"));
}

// Every pair of shardings, or one in `one_in`, to every other order.
counts sweep(int rank, std::vector<std::int64_t> const& extent, std::vector<std::int64_t> const& mesh,
             std::int64_t one_in = 1) {
  counts n;
  std::int64_t number = 0;
  labels dims;
  for (int l = 0; l < rank; ++l) dims.push_back(l);
  extents const e = make_extents(rank, extent, mesh);
  std::vector<spec> const sources = every_spec(dims, e.mesh_axes);
  whole_tensor whole(sources[0], e);
  for (std::size_t k = 0; k < whole.value.size(); ++k) whole.value[k] = noise(k, 5);
  simulated_run run;
  for (spec const& from : sources) {
    sharded_tensor const blocks = simulated_mesh(e).scatter(whole, from, 3);
    labels other = dims;
    while (std::next_permutation(other.begin(), other.end()))
      for (spec const& to : every_spec(other, e.mesh_axes))
        if (number++ % one_in == 0) check(from, to, whole, blocks, e, {}, run, n);
  }
  return n;
}

}  // namespace

TEST_CASE("every reshard to another order of labels on one mesh axis, all small extents") {
  counts all;
  for (std::int64_t devices : {1, 2, 3, 4, 6, 8})
    for (std::int64_t i = 0; i <= 3; ++i)
      for (std::int64_t j = 0; j <= 3; ++j) {
        counts const n = sweep(2, {i, j}, {devices});
        all.cases += n.cases;
        all.wrong += n.wrong;
      }
  CHECK(all.cases == 6 * 16 * 4 * 4);
  CHECK(all.wrong == 0);
}

TEST_CASE("every reshard to another order of labels on several mesh axes") {
  struct known {
    int rank;
    std::vector<std::int64_t> extent, mesh;
    std::int64_t one_in, cases;
  };
  for (known const& k : std::vector<known>{{2, {12, 24}, {2, 3}, 1, 18 * 18},
                                           {2, {7, 5}, {2, 3}, 1, 18 * 18},
                                           {2, {3, 1}, {4, 2}, 1, 18 * 18},
                                           {2, {0, 3}, {2, 2}, 1, 18 * 18},
                                           {3, {4, 6, 2}, {2}, 1, 5 * 25},
                                           {3, {5, 3, 4}, {2, 3}, 7, 0},
                                           {3, {8, 4, 12}, {2, 2}, 7, 0},
                                           {2, {13, 3}, {2, 3, 2}, 19, 0},
                                           {2, {24, 12}, {2, 1, 3}, 19, 0}}) {
    counts const n = sweep(k.rank, k.extent, k.mesh, k.one_in);
    CAPTURE(k.rank);
    CAPTURE(n.cases);
    CHECK(n.cases > 100);
    if (k.cases > 0 && k.rank == 2) CHECK(n.cases == k.cases);
    CHECK(n.wrong == 0);
  }
}

TEST_CASE("where the order changes") {
  auto const sharding = [](labels const& dims, std::vector<std::vector<int>> const& over, bool partial = false) {
    spec s;
    for (std::size_t i = 0; i < dims.size(); ++i) {
      s.push_back(dims[i]);
      for (int m : over[i]) s.over[i].push_back(m);
    }
    if (partial) s.partial.insert(0);
    return s;
  };
  struct known {
    spec from, to;
    int first_reordered;
  };
  std::vector<known> const table = {
      {sharding({0, 1}, {{0}, {}}), sharding({1, 0}, {{}, {}}), 0},         // all_gather: the own part alone
      {sharding({0, 1}, {{}, {0}}), sharding({1, 0}, {{}, {}}), 0},         // received where it belongs
      {sharding({0, 1}, {{0}, {}}), sharding({1, 0}, {{0}, {}}), 0},        // all_to_all: packed anyway
      {sharding({0, 1}, {{}, {0}}), sharding({1, 0}, {{}, {0}}), 0},        // received where it belongs
      {sharding({0, 1, 2}, {{}, {0}, {}}), sharding({1, 2, 0}, {{}, {}, {0}}), 0},  // the same
      {sharding({0, 1, 2}, {{}, {0}, {}}), sharding({2, 1, 0}, {{}, {}, {0}}), 1},  // sent from where it lies
      {sharding({0, 1}, {{}, {0}}), sharding({1, 0}, {{0}, {}}), 0},        // nothing moves
      {sharding({0, 1}, {{}, {}}, true), sharding({1, 0}, {{}, {}}), 0},    // all_reduce: copied anyway
      {sharding({0, 1}, {{}, {}}, true), sharding({1, 0}, {{0}, {}}), 1},   // reduce_scatter: the result is smaller
      {sharding({0, 1}, {{}, {}}), sharding({1, 0}, {{0}, {}}), 1},         // slice: a copy of the part
  };
  extents const e = make_extents(3, {12, 24, 6}, {2});
  for (known const& k : table) {
    reshard_steps const steps = plan_reordering_reshard(k.from, k.to, e);
    std::string const text = text_of(k.from, "ijk") + " -> " + text_of(k.to, "ijk") + text_of(steps, "ijk");
    CAPTURE(text);
    int first = 0;
    while (first < steps.size() && same_order(steps[first].from, k.from)) ++first;
    CHECK(first == std::min(k.first_reordered, steps.size()));
  }
}
