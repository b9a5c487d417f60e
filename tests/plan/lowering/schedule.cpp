// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Schedules as values: the actions of products with fused moves, the places of buffers in the workspace, and the
/// copies and moves of their stages. Other tests sweep the results of schedules (search/sweep_einsum.cpp,
/// reshard/sweep_reshard.cpp).

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <ostraka/plan/decisions/viewpoint.hpp>
#include <ostraka/plan/lowering/schedule.hpp>
#include <ostraka/plan/reshard/plan_reshard.hpp>
#include <ostraka/plan/spec/stored_plan.hpp>

#include "plan/every_spec.hpp"

using namespace ostraka::planner;
using namespace ostraka::testing;

namespace {

// The verbs of a schedule by their first letters; `s` starts a message and `f` finishes it, `i` is a fill.
std::string verbs(schedule const& s) {
  std::string text;
  for (action const& a : s.actions) text += "cimrsf"[static_cast<int>(a.what)];
  return text;
}

mesh_order over(std::initializer_list<int> axes) {
  mesh_order o;
  for (int m : axes) o.push_back(m);
  return o;
}

// A[I, J_X] · B → C on so many devices of 512 indices each.
einsum_plan product_plan(bool right_divided, bool result_divided, std::int64_t devices, admit rule = admit::any) {
  einsum_problem p;
  spec a, b, c;
  a.push_back(0);
  a.push_back(1, over({0}));
  b.push_back(1, right_divided ? over({0}) : mesh_order{});
  b.push_back(2);
  c.push_back(0, result_divided ? over({0}) : mesh_order{});
  c.push_back(2);
  p.operands.push_back(a);
  p.operands.push_back(b);
  p.result = c;
  p.sizes = make_extents(3, {512}, {devices});
  p.rule = rule;
  return plan_einsum(p);
}

schedule lowered(einsum_plan const& plan, std::int64_t device, bool adds = false) {
  viewpoint v;
  v.sizes = plan.sizes;
  v.here.at[0] = device;
  v.adds = adds;
  schedule s;
  lower_to(s, plan, decide(plan, plan.sizes), v, 8);
  return s;
}

}  // namespace

TEST_CASE("a fused reduce-scatter: the parts for others, the message, the own part") {
  einsum_plan const plan = product_plan(true, true, 4);
  CHECK(verbs(lowered(plan, 0)) == "msfm");  // nothing lies before the first device's part
  CHECK(verbs(lowered(plan, 1)) == "mmsfm");
  CHECK(verbs(lowered(plan, 3)) == "msfm");
  schedule const s = lowered(plan, 1);
  REQUIRE(s.stages.size() == 1);
  CHECK(s.stages[0].step == 0);
  CHECK(s.stages[0].fused == 1);
  CHECK(s.stages[0].moved == 3 * 128 * 512);
  CHECK(s.stages[0].copied == 0);
  CHECK(s.messages[0].own_left_out);
  CHECK(s.messages[0].received == place{result_buffer, 0});
}

TEST_CASE("a fused gather whose result is repeated multiplies the parts one by one, after all have arrived") {
  einsum_plan const plan = product_plan(false, false, 4, admit::gather_left);
  for (std::int64_t d = 0; d < 4; ++d) CHECK(verbs(lowered(plan, d)) == "sfmmmm");
  schedule const s = lowered(plan, 2);
  CHECK(s.actions[2].how.beta == factor::zero);
  CHECK(s.actions[3].how.beta == factor::one);
  CHECK(s.products[2].begin[0] == place{0, 0});  // the own part, where it is
  CHECK(s.workspace == 3 * 512 * 128);
}

TEST_CASE("along a mesh axis of one device nothing is sent, whether the plan knew the size or not") {
  for (std::int64_t planned_for : {1, 4}) {
    auto const verbs_of = [&](einsum_plan plan) {
      plan.sizes.mesh[0] = 1;
      CHECK(plan.elements_moved(plan.sizes) == 0);
      return verbs(lowered(plan, 0));
    };
    CHECK(verbs_of(product_plan(true, false, planned_for)) == "m");                       // no all-reduce
    CHECK(verbs_of(product_plan(false, false, planned_for, admit::gather_left)) == "m");  // no gather
    CHECK(verbs_of(product_plan(true, true, planned_for)) == "mc");  // no reduce-scatter: a copy to its result
  }
}

TEST_CASE("what is added is not received where it belongs") {
  einsum_plan plan = product_plan(true, true, 2);
  CHECK(lowered(plan, 0).workspace == 256 * 512);  // with two devices, the others' parts are one part
  CHECK(lowered(plan, 0, true).workspace == 256 * 512 + 2 * 32768);
}

TEST_CASE("a schedule that is cleared keeps nothing") {
  schedule s = lowered(product_plan(true, true, 4), 1);
  schedule const once = s;
  viewpoint v;
  v.sizes = product_plan(true, true, 4).sizes;
  v.here.at[0] = 1;
  lower_to(s, product_plan(true, true, 4), decide(product_plan(true, true, 4), v.sizes), v, 8);
  CHECK(verbs(s) == verbs(once));
  CHECK(s.workspace == once.workspace);
  CHECK(s.messages.back().first_part == once.messages.back().first_part);
}

TEST_CASE("buffers that are there at the same time lie apart, and together take no more than is there at once") {
  std::int64_t cases = 0, apart = 0, longer = 0;
  einsum_labels const l("ij,jk->ik");
  extents const e = make_extents(3, {24}, {2, 3});
  auto const a = every_spec(l.operands[0], 2), b = every_spec(l.operands[1], 2), c = every_spec(l.result, 2);
  for (std::size_t n = 0; n < 500; ++n) {
    einsum_problem p;
    p.operands.push_back(a[n * 7 % a.size()]);
    p.operands.push_back(b[n * 5 % b.size()]);
    p.result = c[n * 3 % c.size()];
    p.sizes = e;
    einsum_plan const plan = plan_einsum(p);
    viewpoint v;
    v.sizes = e;
    v.here = {{1, 1}};
    v.adds = n % 2 == 0;
    schedule s;
    lower_to(s, plan, decide(plan, e), v, 8);
    tally t;
    lower(plan, decide(plan, e), v, t);
    ++cases;
    longer += s.workspace != t.peak ? 1 : 0;
    for (buffer const& x : s.buffers)
      for (buffer const& y : s.buffers)
        if (&x != &y && x.coexists_with(y) && x.at < y.end() && y.at < x.end()) ++apart;
  }
  CHECK(cases == 500);
  CHECK(apart == 0);
  CHECK(longer == 0);
}

TEST_CASE("an order by size alone is not the best for all buffers") {
  // A buffer of 3600, then two of 3200: one during its life and one after.
  ostraka::dynamic_array<buffer> buffers = {{3600, 0, 4}, {3200, 1, 6}, {3200, 4, 8}};
  CHECK(place_buffers(buffers, 8) == 6800);
  CHECK(detail::find_peak(buffers).elements == 6800);
}

TEST_CASE("a long exchange in rounds: copies, a message and copies for each, in memory for one") {
  spec rows, columns;  // A[I_X, J, K] -> A[I, J_X, K] of 16 x 6 x 5 on two devices
  rows.push_back(0, over({0}));
  rows.push_back(1);
  rows.push_back(2);
  columns.push_back(0);
  columns.push_back(1, over({0}));
  columns.push_back(2);
  viewpoint v;
  v.sizes = make_extents(3, {16, 6, 5}, {2});
  reshard_steps const steps = plan_reshard(rows, columns, v.sizes);
  plan_view const plan(rows, columns, steps);
  auto const lowered_with = [&](std::int64_t round) {
    v.via.round = round;
    schedule s;
    lower_to(s, plan, decide(plan.operands, plan.steps, result_of(plan), v.sizes), v, 1);
    return s;
  };
  schedule const at_once = lowered_with(120);
  CHECK(verbs(at_once) == "cscf");
  CHECK(at_once.workspace == 8 * 3 * 5);
  CHECK(verbs(lowered_with(61)) == verbs(at_once));
  schedule const in_rounds = lowered_with(30);
  CHECK(verbs(in_rounds) == "cscfcscfcscfcscf");
  CHECK(in_rounds.workspace == 2 * 3 * 5);
  CHECK(in_rounds.stages[0].moved == at_once.stages[0].moved);
  CHECK(in_rounds.stages[0].copied == at_once.stages[0].copied);
  for (scheduled_message const& m : in_rounds.messages) {
    REQUIRE(m.parts == 1);
    CHECK(in_rounds.parts[static_cast<std::size_t>(m.first_part)].received.where.size() == 2 * 3 * 5);
  }
  CHECK(lowered_with(1).messages.size() == 120);  // more rounds than indices of any dimension: some are empty
}
