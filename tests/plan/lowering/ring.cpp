// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Contractions in a ring with the move next to them (plan/spec/ring.hpp, plan/lowering/lower_ring.hpp): exact in
/// integers on a simulated mesh against plain loops, even and uneven; n − 1 steps between neighbours; two parts
/// allocated, for sums one part and a piece. The contractions that run in a ring, and the plans of those that do not.
/// search/sweep_einsum.cpp sweeps every sharding.

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <ostraka/plan/spec/describe_plan.hpp>
#include <ostraka/plan/workspace/memory_use.hpp>
#include <support/simulated_mesh.hpp>
#include <support/simulated_run.hpp>

#include "plan/every_spec.hpp"

using namespace ostraka::planner;
using namespace ostraka::testing;
using ostraka::step;

namespace {

enum { i, j, k };

// [i_X, j] as {{i, true}, {j, false}}
spec tensor(std::initializer_list<std::pair<int, bool>> dims) {
  mesh_order x;
  x.push_back(0);
  spec s;
  for (auto const& [label, divided] : dims) s.push_back(label, divided ? x : mesh_order{});
  return s;
}

struct pattern {
  char const* name;
  spec a, b, c;
  admit rule;
};

std::vector<pattern> const patterns = {
    {"B gathered along the sum", tensor({{i, true}, {j, false}}), tensor({{j, true}, {k, false}}),
     tensor({{i, true}, {k, false}}), admit::gather_right},
    {"A gathered along rows", tensor({{i, true}, {j, false}}), tensor({{j, false}, {k, true}}),
     tensor({{i, false}, {k, true}}), admit::gather_left},
    {"A gathered along its columns", tensor({{i, false}, {j, true}}), tensor({{j, false}, {k, true}}),
     tensor({{i, false}, {k, true}}), admit::gather_left},
    {"A gathered along rows for all alike", tensor({{i, true}, {j, false}}), tensor({{j, false}, {k, false}}),
     tensor({{i, false}, {k, false}}), admit::gather_left},
    {"C scattered over rows", tensor({{i, false}, {j, true}}), tensor({{j, true}, {k, false}}),
     tensor({{i, true}, {k, false}}), admit::reduce_result},
    {"C scattered over columns", tensor({{i, false}, {j, true}}), tensor({{j, true}, {k, false}}),
     tensor({{i, false}, {k, true}}), admit::reduce_result}};

einsum_plan plan_of(pattern const& p, extents const& e, int directions) {
  einsum_problem problem;
  problem.operands.push_back(p.a);
  problem.operands.push_back(p.b);
  problem.result = p.c;
  problem.sizes = e;
  problem.rule = p.rule;
  problem.directions = directions;
  return plan_einsum(problem);
}

whole_tensor numbers(spec const& s, extents const& e, std::uint64_t seed) {
  whole_tensor t(s, e);
  for (std::size_t n = 0; n < t.value.size(); ++n) t.value[n] = noise(n, seed);
  return t;
}

// alpha A B + beta C by plain loops
whole_tensor expected(whole_tensor const& a, whole_tensor const& b, whole_tensor c, scalars call, extents const& e) {
  for (std::int64_t row = 0; row < e.label[i]; ++row)
    for (std::int64_t column = 0; column < e.label[k]; ++column) {
      std::int64_t sum = 0;
      for (std::int64_t n = 0; n < e.label[j]; ++n) sum += a[{{row, n}}] * b[{{n, column}}];
      c[{{row, column}}] = call.alpha * sum + call.beta * c[{{row, column}}];
    }
  return c;
}

// Runs the plan on all devices, in rings whatever their length. @returns the fault, or ""
std::string fault_of(pattern const& p, extents const& e, int directions, scalars call) {
  einsum_plan const plan = plan_of(p, e, directions);
  if (plan.count(step::ring_contraction) != 1) return "the plan has no ring";
  decisions const decided = decide(plan, e, all_is_worth_it);
  whole_tensor const a = numbers(p.a, e, 1), b = numbers(p.b, e, 2), c = numbers(p.c, e, 3);
  simulated_mesh mesh(e);
  simulated_run run;
  run.begin(mesh.devices());
  sharded_tensor held = mesh.scatter(c, p.c, 6);
  std::vector<std::vector<std::int64_t>> const blocks[] = {dense_blocks(mesh.scatter(a, p.a, 4)),
                                                           dense_blocks(mesh.scatter(b, p.b, 5)), dense_blocks(held)};
  for (std::size_t d = 0; d < run.devices.size(); ++d) {
    run.devices[d].operands = {blocks[0][d], blocks[1][d]};
    run.devices[d].result = blocks[2][d];
  }
  int const order[max_mesh_axes] = {0, 1, 2, 3, 4, 5};
  run.lower(plan, decided, e, call, order, all_is_worth_it);
  tally predicted;
  lower(plan, decided, last_device(e), predicted, all_is_worth_it);
  std::int64_t const members = e.mesh[0];
  for (std::size_t d = 0; d < run.devices.size(); ++d) {
    schedule const& s = run.devices[d].todo;
    std::int64_t const me = static_cast<std::int64_t>(d);
    if (s.messages.size() % static_cast<std::size_t>(members - 1) != 0) return "the steps are not n - 1";
    for (message_part const& part : s.parts) {
      bool const next = part.member == (me + 1) % members, before = part.member == (me + members - 1) % members;
      if (!next && !before) return "a message is not to a neighbour";
      if (directions == 1 && part.sent.where.size() > 0 && !next) return "a message goes the other way";
    }
    if (s.workspace > predicted.peak) return "a device takes more than was predicted";
  }
  run.run();
  if (!run.error.empty()) return run.error;
  if (run.moved != plan.elements_moved(e)) return "something else is moved than the plan predicts";
  run.results_to(held);
  mesh.expect_holds(held, expected(a, b, c, call, e), p.c);
  return mesh.error;
}

}  // namespace

TEST_CASE("rings are exact on two, three, four and eight devices, one way and both ways, even and uneven") {
  std::int64_t cases = 0;
  for (pattern const& p : patterns)
    for (std::int64_t devices : {2, 3, 4, 8})
      for (std::vector<std::int64_t> const& label :
           std::vector<std::vector<std::int64_t>>{{24, 24, 24}, {13, 29, 10}, {9, 17, 23}, {40, 8, 9}, {3, 5, 2}})
        for (int directions : {1, 2})
          for (scalars const call : {scalars{1, 0}, scalars{3, 2}}) {
            CAPTURE(p.name);
            CAPTURE(devices);
            CAPTURE(label[1]);
            CAPTURE(directions);
            CHECK(fault_of(p, make_extents(3, label, {devices}), directions, call) == "");
            ++cases;
          }
  CHECK(cases == 480);
}

TEST_CASE("a ring takes two parts beyond operands and result, of two devices one; of sums a part and a piece") {
  for (pattern const& p : patterns) {
    CAPTURE(p.name);
    bool const scatters = p.rule == admit::reduce_result;
    for (std::int64_t devices : {2, 4, 8}) {
      extents const e = make_extents(3, {2048}, {devices});
      for (int directions : {1, 2}) {
        einsum_plan const plan = plan_of(p, e, directions);
        decisions const decided = decide(plan, e);
        std::int64_t const part = 2048 * 2048 / devices;
        std::int64_t const pieces = std::max<std::int64_t>(2, 16 / devices);  // each way
        std::int64_t const sums = part + part / pieces;
        for (bool adds : {false, true}) {
          viewpoint v;
          v.sizes = e;
          v.here.at[0] = 1;
          v.adds = adds;
          schedule s;
          lower_to(s, plan, decided, v, 8);
          CHECK(s.workspace == (scatters ? sums : devices == 2 ? part : 2 * part));
        }
        CHECK(peak_workspace(plan, e) == (scatters ? sums : devices == 2 ? part : 2 * part));
      }
    }
  }
}

TEST_CASE("a device multiplies while a message is under way, and what is left beside none is short") {
  extents const e = make_extents(3, {1024}, {2});
  viewpoint v;
  v.sizes = e;
  auto const verbs = [&](pattern const& p) {
    schedule s;
    einsum_plan const plan = plan_of(p, e, 1);
    lower_to(s, plan, decide(plan, e), v, 8);
    std::string text;
    for (action const& a : s.actions) text += "cimrsf"[static_cast<int>(a.what)];
    return text;
  };
  CHECK(verbs(patterns[0]) == "smfsmfsmfsmfm");
  CHECK(verbs(patterns[4]) == "msmmfsmmfsmmfsmmcfsmmccfsmmccfsmmcfcsmfc");
}

TEST_CASE("sums are multiplied while others are under way, however many devices there are and however short rows are") {
  for (std::int64_t devices : {2, 3, 4, 8, 16, 32, 64})
    for (std::int64_t columns : {32, 128, 256, 512, 2048})
      for (int directions : {1, 2}) {
        CAPTURE(devices);
        CAPTURE(columns);
        CAPTURE(directions);
        extents const e = make_extents(3, {512 * devices, 64 * devices, columns}, {devices});
        viewpoint v;
        v.sizes = e;
        schedule s;
        einsum_plan const plan = plan_of(patterns[4], e, directions);
        decisions const decided = decide(plan, e);
        lower_to(s, plan, decided, v, 8);
        bool const travels_in_ring = columns * 512 >= shortest_ring_part;
        CHECK((ring_at(plan.steps, 0, e).verdict == ring_verdict::taken) == travels_in_ring);
        if (!travels_in_ring) continue;
        // Something is multiplied beside every message but the last.
        std::int64_t messages = 0, beside = 0;
        bool under_way = false, multiplied = false;
        for (action const& a : s.actions) {
          char const what = "cimrsf"[static_cast<int>(a.what)];
          if (what == 's') under_way = true, multiplied = false;
          if (what == 'm' && under_way) multiplied = true;
          if (what == 'f') ++messages, beside += multiplied, under_way = false;
        }
        CHECK(messages >= 2 * (devices - 1));
        CHECK(beside >= messages - 1);
      }
}

TEST_CASE("which contractions run as rings") {
  extents const e = make_extents(3, {2048}, {4});
  auto const kinds = [&](pattern const& p, extents const& sizes) {
    einsum_plan const plan = plan_of(p, sizes, 1);
    for (int n = 0; n < plan.steps.size(); ++n)
      if (contracts(plan.steps[n].kind)) return ring_at(plan.steps, n, sizes).verdict;
    return ring_verdict::no_move;
  };
  for (pattern const& p : patterns) CHECK(kinds(p, e) == ring_verdict::taken);
  pattern const pinned{"", tensor({{i, false}, {j, true}}), tensor({{j, false}, {k, false}}),
                       tensor({{i, false}, {k, false}}), admit::gather_left};
  CHECK(kinds(pinned, e) == ring_verdict::pinned);
  CHECK(plan_of(pinned, e, 1).count(step::contract) == 1);
  CHECK(plan_of(pinned, e, 1).count(step::ring_contraction) == 0);
  CHECK(kinds(patterns[0], make_extents(3, {255}, {2})) == ring_verdict::short_parts);
  CHECK(kinds(patterns[0], make_extents(3, {2048}, {65})) == ring_verdict::many_devices);
  CHECK(plan_of(patterns[0], e, 0).count(step::contract) == 1);
  pattern const local{"", tensor({{i, true}, {j, false}}), tensor({{j, false}, {k, false}}),
                      tensor({{i, true}, {k, false}}), admit::any};
  CHECK(kinds(local, e) == ring_verdict::no_move);
}

TEST_CASE("a plan says which contractions run as rings, and why the others do not") {
  std::string_view const labels[] = {"I", "J", "K"}, meshes[] = {"X"};
  naming const n{labels, meshes, 8};
  auto const text = [&](std::int64_t extent, std::int64_t devices, int directions) {
    extents const e = make_extents(3, {extent}, {devices});
    return describe(plan_of(patterns[0], e, directions), n, e);
  };
  CHECK(text(2048, 4, 2).find("ring_contraction<X>") != std::string::npos);
  CHECK(text(2048, 4, 2).find("all_gather in 3 steps, both ways") != std::string::npos);
  CHECK(text(2048, 4, 1).find("all_gather in 3 steps\n") != std::string::npos);
  CHECK(text(64, 4, 1).find("no ring: parts of less than 131,072 elements") != std::string::npos);
  CHECK(text(64, 4, 1).find("ring_contraction") == std::string::npos);
  CHECK(text(2048, 4, 0).find("ring") == std::string::npos);
}

TEST_CASE("a short part is multiplied as without rings") {
  extents const e = make_extents(3, {64}, {4});
  einsum_plan const with = plan_of(patterns[0], e, 1), without = plan_of(patterns[0], e, 0);
  CHECK(peak_workspace(with, e) == peak_workspace(without, e));
  CHECK(decide(with, e)[1].ring < 0);
  CHECK(decide(with, e)[1].fused == decide(without, e)[1].fused);
}
