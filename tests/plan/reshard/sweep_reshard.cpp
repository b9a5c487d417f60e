// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// timeout: 600

/// @file
/// Every sharding of one tensor to every other, executed on a simulated mesh, uneven extents included: T[I_?, J_?] →
/// T[I_?, J_?]. The reference is the general block exchange: a plan may move the elements that devices need and do not
/// have, counted by loops; with partial sums, the least that any way of adding them up can move. The worst factors are
/// those of docs/design/reshard.md.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <ostraka/plan/spec/stored_plan.hpp>
#include <support/simulated_mesh.hpp>
#include <support/simulated_run.hpp>

#include "plan/every_spec.hpp"

using namespace ostraka::testing;
using ostraka::communicates;
using ostraka::step;
using ostraka::planner::plan_reshard;

namespace {

// How much more than the bound the worst plan moves.
struct worst_factor {
  std::int64_t cases = 0;
  std::int64_t above = 0;  // cases that move more than the bound
  double factor = 1;
  std::string where{};
};

// Shardings that are not partial, partial ones that are made whole, whole ones made partial, partial ones made partial
// otherwise.
constexpr int kinds_of_cases = 4;
std::string const kind_name[] = {"exchange", "partial to whole", "whole to partial", "partial to partial"};

struct tally {
  std::int64_t cases = 0;
  std::int64_t wrong = 0;
  worst_factor worst[kinds_of_cases]{};
};

// Slice, reduce-scatter, all-reduce, slice, one exchange, zero-pad, mask: communication in this order, and at most one
// of each.
bool in_order(ostraka::planner::reshard_steps const& steps) {
  int last = -1;
  for (planned_step const& s : steps) {
    if (!communicates(s.kind)) continue;
    int const place = s.kind == step::reduce_scatter ? 0 : s.kind == step::all_reduce ? 1 : 2;
    if (place <= last) return false;
    last = place;
  }
  return true;
}

// A device's number among those along `axes`, first mesh axis major.
std::uint64_t number_along(extents const& e, mesh_set axes, std::size_t d) {
  std::uint64_t n = 0;
  std::uint64_t unit = 1;
  for (int m = e.mesh_axes - 1; m >= 0; --m) {
    auto const size = static_cast<std::uint64_t>(e.mesh[m]);
    if (axes.contains(m)) {
      n += d % size * unit;
      unit *= size;
    }
    d /= size;
  }
  return n;
}

// The least that any way of making `to` of `from` can move. For each element: a group of devices (along the mesh axes
// over which `to` is partial; else a device alone) has to hold all n summands together. Each summand that a group lacks
// leaves a device that holds it in a message of that device's own, added up on the way or not; so to complete the first
// of the groups that lack some takes as many messages as it lacks, and every other one needs one more at least, after
// that. Elements move alone, so the sum over elements is a bound.
std::int64_t least_possible(simulated_mesh const& mesh, extents const& e, whole_tensor const& whole, spec const& from,
                            spec const& to) {
  std::size_t const devices = mesh.devices();
  std::uint64_t const all = (std::uint64_t{1} << mesh.group_size(from.partial)) - 1;
  std::vector<box> source;
  std::vector<box> target;
  std::vector<std::uint64_t> summand;
  std::vector<std::size_t> group;
  for (std::size_t d = 0; d < devices; ++d) {
    source.push_back(mesh.block_of(from, d));
    target.push_back(mesh.block_of(to, d));
    summand.push_back(std::uint64_t{1} << number_along(e, from.partial, d));
    group.push_back(static_cast<std::size_t>(number_along(e, mesh_set::first(e.mesh_axes) - to.partial, d)));
  }
  std::int64_t least = 0;
  std::vector<std::uint64_t> held(devices);
  std::vector<bool> wanted(devices);
  for_each(whole.all, [&](position const& at) {
    std::fill(held.begin(), held.end(), 0);
    std::fill(wanted.begin(), wanted.end(), false);
    for (std::size_t d = 0; d < devices; ++d) {
      if (source[d].contains(at)) held[group[d]] |= summand[d];
      if (target[d].contains(at)) wanted[group[d]] = true;
    }
    std::int64_t fewest = 0;
    std::int64_t most = 0;
    std::int64_t lacking = 0;
    for (std::size_t g = 0; g < devices; ++g) {
      if (!wanted[g]) continue;
      std::int64_t const lacks = std::popcount(all & ~held[g]);
      if (lacks == 0) continue;
      fewest = lacking == 0 ? lacks : std::min(fewest, lacks);
      most = std::max(most, lacks);
      ++lacking;
    }
    if (lacking > 0) least += std::max(most, fewest + lacking - 1);
  });
  return least;
}

// Lowers the steps for each device, and runs them from `blocks` into `t`. The running mesh has its axes in another
// order.
void run_schedules(ostraka::planner::reshard_steps const& steps, sharded_tensor const& blocks, spec const& to,
                   extents const& e, simulated_mesh& mesh, simulated_run& run, sharded_tensor& t) {
  constexpr int order[ostraka::planner::max_mesh_axes] = {1, 2, 0, 3, 4, 5};
  ostraka::planner::plan_view const plan(blocks.sharding, to, steps);
  run.begin(blocks.block.size());
  auto const operands = dense_blocks(blocks);
  for (std::size_t d = 0; d < operands.size(); ++d) {
    run.devices[d].operands = {operands[d]};
    run.devices[d].result.assign(static_cast<std::size_t>(t.block[d].size()), poison);
  }
  run.lower(plan, ostraka::planner::decide(plan.operands, plan.steps, 0, e), e, {}, order, ostraka::planner::measured);
  run.run();
  mesh.expect(run.error.empty(), run.error.c_str());
  if (mesh.error.empty()) run.results_to(t);
}

void sweep(labels const& dims, extents const& e, tally& count) {
  std::vector<spec> const specs = every_spec(dims, e.mesh_axes);
  whole_tensor whole(specs[0], e);
  for (std::size_t n = 0; n < whole.value.size(); ++n) whole.value[n] = noise(n, 5);
  simulated_run run;
  for (spec const& from : specs) {
    sharded_tensor const blocks = simulated_mesh(e).scatter(whole, from, 3);
    for (spec const& to : specs) {
      simulated_mesh mesh(e);
      sharded_tensor t = blocks;
      std::int64_t predicted = 0;
      auto const steps = plan_reshard(from, to, e);
      for (planned_step const& s : steps) {
        mesh.execute(s, t);
        predicted += ostraka::planner::elements_moved(s, e);
        if (!mesh.error.empty()) break;
      }
      mesh.expect_holds(t, whole, to);
      if (mesh.error.empty()) run_schedules(steps, blocks, to, e, mesh, run, t);
      mesh.expect_holds(t, whole, to);
      mesh.expect(mesh.moved == predicted && run.moved == predicted, "the plan predicts another volume than was moved");
      mesh.expect(in_order(steps), "the steps are not in order");
      std::int64_t const least = least_possible(mesh, e, whole, from, to);
      int const kind = (from.partial.empty() ? 0 : 1) + (to.partial.empty() ? 0 : 2);
      if (kind == 0)
        mesh.expect(mesh.moved == mesh.missing(from, to) && mesh.moved == least,
                    "another volume than that of an exchange");
      mesh.expect(mesh.moved >= least, "less was moved than is possible");
      mesh.expect(mesh.moved == 0 || least > 0 || kind > 1, "something was moved that need not be");
      worst_factor& worst = count.worst[kind];
      ++worst.cases;
      worst.above += mesh.moved > least ? 1 : 0;
      if (least > 0 && static_cast<double>(mesh.moved) / static_cast<double>(least) > worst.factor) {
        worst.factor = static_cast<double>(mesh.moved) / static_cast<double>(least);
        worst.where = text_of(from, "ijk") + " -> " + text_of(to, "ijk") + "  " + text_of(e, "ijk") +
                      std::to_string(mesh.moved) + " : " + std::to_string(least);
      }
      if (from == to) mesh.expect(steps.empty(), "steps to stay where one is");
      ++count.cases;
      if (!mesh.error.empty() && ++count.wrong <= 5)
        MESSAGE(mesh.error, ": ", text_of(from, "ijk"), " -> ", text_of(to, "ijk"), "  ", text_of(e, "ijk"),
                text_of(steps, "ijk"), "\n    predicted ", predicted, ", moved ", mesh.moved);
    }
  }
}

// Sweeps, prints a row for each kind of case, and compares the worst factor of each with the stated one.
std::int64_t run(std::string const& title, std::vector<std::vector<std::int64_t>> const& meshes,
                 std::vector<std::vector<std::int64_t>> const& all_extents, int max_rank,
                 std::vector<double> const& stated) {
  tally count;
  for (auto const& mesh : meshes)
    for (auto const& extent : all_extents)
      for (int rank = 1; rank <= max_rank; ++rank) {
        labels dims;
        for (int l = 0; l < rank; ++l) dims.push_back(l);
        sweep(dims, make_extents(rank, extent, mesh), count);
      }
  MESSAGE(title, ": ", count.cases, " reshards, ", count.wrong, " wrong");
  CHECK(count.wrong == 0);
  for (int k = 0; k < kinds_of_cases; ++k) {
    worst_factor const& w = count.worst[k];
    MESSAGE(title, " | ", kind_name[k], " | ", w.cases, " | above the bound ", w.above, " | worst ", w.factor, " | ",
            w.where);
    CHECK(w.factor <= stated[static_cast<std::size_t>(k)] + 1e-9);
    CHECK(w.factor >= stated[static_cast<std::size_t>(k)] - 1e-3);  // else the page claims too much
  }
  return count.cases;
}

spec sharding(std::vector<std::vector<int>> const& over, std::vector<int> const& partial = {}) {
  spec s;
  for (auto const& axes : over) {
    s.push_back(s.rank);
    for (int m : axes) s.over[s.rank - 1].push_back(m);
  }
  for (int m : partial) s.partial.insert(m);
  return s;
}

}  // namespace

TEST_CASE("every reshard on one mesh axis") {
  CHECK(run("one mesh axis, even", {{1}, {2}, {3}, {4}}, {{12, 24, 12}}, 3, {1, 1, 1, 1}) == 200);
  CHECK(run("one mesh axis, uneven", {{1}, {2}, {3}, {4}, {7}}, {{5, 3, 4}, {4, 8, 2}, {1, 2, 1}, {2, 0, 3}, {0, 1, 2}},
            3, {1, 1, 1, 1}) == 1250);
}

TEST_CASE("every reshard on two mesh axes") {
  CHECK(run("two mesh axes, even", {{2, 2}, {2, 3}, {3, 2}, {4, 2}, {1, 3}}, {{24, 24}}, 2, {1, 5 / 4., 2, 7 / 4.}) ==
        2120);
  CHECK(run("two mesh axes, uneven", {{2, 2}, {2, 3}, {3, 2}, {4, 2}, {1, 3}},
            {{7, 5, 3}, {4, 6, 2}, {1, 3, 2}, {3, 0, 2}}, 3, {1, 4 / 3., 2, 13 / 7.}) == 24160);
}

TEST_CASE("every reshard on three mesh axes") {
  CHECK(run("three mesh axes, even", {{2, 2, 2}, {2, 3, 2}, {3, 1, 2}}, {{12, 8}}, 2, {1, 11 / 8., 5 / 2., 5 / 2.}) ==
        29724);
  CHECK(run("three mesh axes, uneven", {{2, 2, 2}, {2, 3, 2}, {3, 1, 2}}, {{5, 7}, {13, 3}}, 2, {1, 9 / 5., 3, 2}) +
            run("three mesh axes, three labels", {{2, 2, 2}}, {{5, 3, 4}}, 3, {1, 7 / 5., 2, 9 / 5.}) ==
        100332);
}

TEST_CASE("a reshard is called by the collective that it is") {
  struct known {
    spec from;
    spec to;
    std::vector<step> steps;
  };
  constexpr int x = 0;
  constexpr int y = 1;
  std::vector<known> const table = {
      {sharding({{}}), sharding({{x}}), {step::slice}},
      {sharding({{x, y}}), sharding({{x}}), {step::all_gather}},
      {sharding({{x, y}}), sharding({{}}), {step::all_gather}},
      {sharding({{x}, {}}), sharding({{}, {x}}), {step::all_to_all}},
      {sharding({{x, y}, {}}), sharding({{x}, {y}}), {step::all_to_all}},
      {sharding({{x, y}, {}}), sharding({{}, {x, y}}), {step::all_to_all}},
      {sharding({{}, {x}}), sharding({{y}, {}}), {step::slice, step::all_gather}},
      {sharding({{x, y}}), sharding({{y}}), {step::block_exchange}},
      {sharding({{x, y}}), sharding({{y, x}}), {step::block_exchange}},
      {sharding({{x}, {y}}), sharding({{y}, {x}}), {step::block_exchange}},
      {sharding({{}}, {x}), sharding({{}}), {step::all_reduce}},
      {sharding({{}}, {x, y}), sharding({{}}), {step::all_reduce}},
      {sharding({{}}, {x}), sharding({{x}}), {step::reduce_scatter}},
      {sharding({{}}, {x, y}), sharding({{x, y}}), {step::reduce_scatter}},
      {sharding({{}}, {x}), sharding({{y, x}}), {step::slice, step::reduce_scatter}},
      {sharding({{}}, {x}), sharding({{x, y}}), {step::reduce_scatter}},
      {sharding({{}}, {x}), sharding({{y}}), {step::slice, step::all_reduce}},
      {sharding({{x}}), sharding({{}}, {x}), {step::zero_pad}},
      {sharding({{}}), sharding({{}}, {x}), {step::mask}},
      {sharding({{y}}, {x}), sharding({{y}}, {x}), {}},
  };
  extents const e = make_extents(2, {12, 24}, {2, 3});
  for (known const& k : table) {
    auto const steps = plan_reshard(k.from, k.to, e);
    std::string const text = text_of(k.from, "ij") + " -> " + text_of(k.to, "ij") + text_of(steps, "ij");
    CAPTURE(text);
    std::vector<step> kinds;
    for (planned_step const& s : steps) kinds.push_back(s.kind);
    CHECK(kinds == k.steps);
  }
}
