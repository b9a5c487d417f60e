// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Plans lowered to be counted, against the figures of a table of steps and the moves of steps: for every sharding of
/// small einsums, even and uneven, at once and in passes. Lowered for no particular device, a plan takes what the table
/// says, or less (a slice of the first dimension has no gaps, which the table does not see); for each device, with any
/// alpha and beta, it takes no more than that.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <ostraka/plan/workspace/memory_use.hpp>
#include <ostraka/plan/workspace/passes.hpp>

#include "memory_table.hpp"
#include "plan/every_spec.hpp"

using namespace ostraka::planner;
using namespace ostraka::testing;
using ostraka::step;

namespace {

struct counts {
  std::int64_t cases = 0;
  std::int64_t wrong = 0;
};

tally lowered(einsum_plan const& plan, decisions const& decided, viewpoint const& v) {
  tally t;
  lower(plan, decided, v, t);
  return t;
}

// The fault of a plan with these extents, or "".
std::string fault_of(einsum_plan const& plan, extents const& e) {
  decisions const decided = decide(plan, e);
  memory_use const table = memory_by_table(plan, e);
  memory_use const counted = memory_of(plan, e);
  if (counted.peak > table.peak || counted.copied > table.copied) return "it takes more than the table says";
  bool even = e.now.parts == 1 && plan.count(step::slice) == 0;
  for (int l = 0; l < e.labels; ++l) even = even && e.label[l] % e.devices() == 0;
  if (even && (counted.peak != table.peak || counted.copied != table.copied))
    return "it takes less than the table says";
  std::int64_t moved = 0;
  viewpoint v;
  v.sizes = e;
  for (std::int64_t d = 0; d < e.devices(); ++d)
    for (int call = 0; call < 4; ++call) {
      v.here = coordinates_of(d, mesh_set::first(e.mesh_axes), e);
      v.scales = call % 2 != 0;
      v.adds = call / 2 != 0;
      v.order[0] = call == 0 ? 0 : e.mesh_axes;  // some axis comes last on the running mesh
      tally const t = lowered(plan, decided, v);
      if (t.peak > counted.peak) return "a device takes more than was predicted";
      if (call == 0 && t.copied > counted.copied) return "a device copies more than was predicted";
      if (t.held != 0) return "a device does not give back what it took";
      if (call == 0) moved += t.moved;
    }
  if (e.now.parts == 1 && moved != plan.elements_moved(e)) return "the messages move something else than the steps";
  return {};
}

void compare(einsum_plan const& plan, extents const& e, std::string const& names, counts& n) {
  std::string const fault = fault_of(plan, e);
  ++n.cases;
  if (fault.empty() || ++n.wrong > 5) return;
  MESSAGE(fault, ": ", text_of(plan, names), "\n    passes over label ", e.now.label, ": ", e.now.parts);
}

// One case in `one_in` of all shardings of an einsum, at once and in two passes over each label that allows it.
void sweep(char const* einsum, std::vector<std::int64_t> const& extent, std::vector<std::int64_t> const& mesh,
           std::int64_t one_in, counts& n) {
  einsum_labels const l(einsum);
  extents const e = make_extents(l.count(), extent, mesh);
  std::vector<std::vector<spec>> specs;
  for (labels const& dims : l.operands) specs.push_back(every_spec(dims, e.mesh_axes));
  specs.push_back(every_spec(l.result, e.mesh_axes));
  std::int64_t combinations = 1;
  for (auto const& s : specs) combinations *= static_cast<std::int64_t>(s.size());
  for (std::int64_t c = 0; c < combinations / one_in; ++c) {
    std::int64_t rest = one_in == 1 ? c : c * 1000003 % combinations;
    einsum_problem problem;
    for (std::size_t k = 0; k < specs.size(); ++k) {
      spec const& s = specs[k][static_cast<std::size_t>(rest) % specs[k].size()];
      rest /= static_cast<std::int64_t>(specs[k].size());
      k + 1 < specs.size() ? problem.operands.push_back(s) : void(problem.result = s);
    }
    problem.sizes = e;
    einsum_plan const plan = plan_einsum(problem);
    if (!plan.feasible) continue;
    compare(plan, e, l.names, n);
    for (int label = 0; label < e.labels; ++label) {
      if (!detail::splits_into_passes(plan, label)) continue;
      extents in_passes = e;
      in_passes.now = {label, detail::division_of(plan, label, e).same_everywhere, 0, 2};
      compare(plan, in_passes, l.names, n);
    }
  }
}

}  // namespace

TEST_CASE("products") {
  counts n;
  sweep("ij,jk->ik", {512}, {2}, 1, n);
  sweep("ij,jk->ik", {512}, {4}, 1, n);
  sweep("ij,jk->ik", {512}, {2, 4}, 13, n);
  sweep("ij,jk->ik", {64, 48, 32}, {2, 2}, 13, n);
  sweep("ij,jk->ik", {8, 16, 24}, {2}, 1, n);
  CHECK(n.wrong == 0);
  MESSAGE(n.cases, " cases");
}

TEST_CASE("products with uneven blocks, and blocks of nothing") {
  counts n;
  sweep("ij,jk->ik", {301, 205, 109}, {3}, 1, n);
  sweep("ij,jk->ik", {7, 5, 9}, {2, 3}, 23, n);
  sweep("ij,jk->ik", {1, 2, 0}, {3}, 1, n);
  CHECK(n.wrong == 0);
  MESSAGE(n.cases, " cases");
}

TEST_CASE("of one operand, and of three") {
  counts n;
  sweep("ij->ij", {64, 48}, {2, 2}, 1, n);
  sweep("ij->ji", {64, 47}, {2, 3}, 1, n);
  sweep("ij->i", {64, 48}, {2, 4}, 1, n);
  sweep("ij,jk,kl->il", {64, 48}, {2}, 3, n);
  sweep("ij,jk,kl->il", {5, 9}, {3}, 3, n);
  CHECK(n.wrong == 0);
  MESSAGE(n.cases, " cases");
}

TEST_CASE("while compiling") {
  constexpr std::int64_t peak = [] {
    mesh_order x;
    x.push_back(0);
    einsum_problem p;
    spec a, b;
    a.push_back(0);
    a.push_back(1, x);
    b.push_back(1, x);
    b.push_back(2);
    p.operands.push_back(a);
    p.operands.push_back(b);
    p.result.push_back(0, x);
    p.result.push_back(2);
    p.sizes.labels = 3;
    p.sizes.mesh_axes = 1;
    for (int l = 0; l < 3; ++l) p.sizes.label[l] = 512;
    p.sizes.mesh[0] = 4;
    einsum_plan const plan = plan_einsum(p);
    return memory_of(plan, p.sizes).peak;
  }();
  static_assert(peak > 0);
}
