// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Plans that are packed and unpacked again have the same members: every sharding of every tensor of a product on two
/// mesh axes, and values that no small plan has. Bytes by hand; and how many a usual plan takes.

#include <cstdint>

#include <doctest/doctest.h>

#include <ostraka/plan/spec/packed_plan.hpp>

#include "plan/every_spec.hpp"

using namespace ostraka::testing;
using ostraka::planner::unpacked_plan;

namespace {

constexpr int most_specs = ostraka::planner::max_operands + 1 + 2 * ostraka::planner::max_plan_steps;
constexpr int most_bytes = 1 << 16;

bool same(spec const& a, spec const& b) { return a == b && a.kind == b.kind; }

bool same(planned_step const& a, planned_step const& b) {
  return a.kind == b.kind && a.operand == b.operand && a.axes == b.axes && same(a.from, b.from) && same(a.to, b.to) &&
         a.left == b.left && a.right == b.right;
}

template <class One, class Other, class Same>
bool all_same(One const& one, Other const& other, int count, Same const& is_same) {
  if (one.size() != count) return false;
  for (int i = 0; i < count; ++i)
    if (!is_same(one[i], other[i])) return false;
  return true;
}

/// Packs and unpacks. Returns the number of bytes, or 0 if a member differs.
int packed_size(einsum_plan const& plan) {
  auto const packed = ostraka::planner::detail::pack<most_specs, most_bytes>(plan);
  unpacked_plan again;
  ostraka::planner::unpack(packed.bytes, again);
  auto const& v = again.view;
  auto const specs = [](spec const& a, spec const& b) { return same(a, b); };
  auto const steps = [](planned_step const& a, planned_step const& b) { return same(a, b); };
  auto const numbers = [](std::int64_t a, std::int64_t b) { return a == b; };
  bool const all = !again.empty() && all_same(v.operands, plan.operands, plan.operands.size(), specs) &&
                   same(*v.result, plan.result) &&
                   all_same(v.label_sizes, plan.sizes.label, plan.sizes.labels, numbers) &&
                   all_same(v.mesh_sizes, plan.sizes.mesh, plan.sizes.mesh_axes, numbers) && v.how == plan.how &&
                   v.element_weight == plan.element_weight && v.directions == plan.directions &&
                   all_same(v.steps, plan.steps, plan.steps.size(), steps);
  return all ? packed.count : 0;
}

}  // namespace

TEST_CASE("every sharding of a product") {
  einsum_labels const labels("ij,jk->ik");
  int cases = 0, wrong = 0, longest = 0;
  for (spec const& a : every_spec(labels.operands[0], 2))
    for (spec const& b : every_spec(labels.operands[1], 2))
      for (spec const& c : every_spec(labels.result, 2)) {
        if (++cases % 7 != 0) continue;  // each of them meets most of the others
        einsum_problem p;
        p.operands.push_back(a);
        p.operands.push_back(b);
        p.result = c;
        p.sizes = make_extents(3, {4096}, {4, 2});
        einsum_plan const plan = ostraka::planner::plan_einsum(p);
        if (!plan.feasible) continue;
        int const size = packed_size(plan);
        wrong += size == 0;
        longest = size > longest ? size : longest;
      }
  CHECK(wrong == 0);
  CHECK(longest > 40);
  CHECK(longest < 200);
}

TEST_CASE("values that no small plan has") {
  einsum_plan plan;
  spec large;
  for (int l = 0; l < ostraka::max_rank; ++l) large.push_back(l + 8, {0x7654321u >> (4 * (l % 7))});
  large.partial.bits = 0x7f;
  large.kind = ostraka::reduction::max;
  plan.operands.push_back(large);
  plan.operands.push_back({});
  plan.result = large;
  plan.result.kind = ostraka::reduction::prod;  // the same but for this
  plan.sizes =
      make_extents(16, {std::int64_t{1} << 62, 0, 127, 128, 1, 3, 9, 16384, 5, 6, 7, 8, 9, 10, 11, 12}, {1000000});
  plan.sizes.mesh_axes = 7;
  for (int m = 0; m < 7; ++m) plan.sizes.mesh[m] = 1 << m;
  plan.how = ostraka::reduction::max;
  plan.element_weight = 1234.5;
  plan.directions = 2;
  for (int i = 0; i < ostraka::planner::max_plan_steps; ++i) {
    planned_step s{ostraka::step::all_to_all, i - 1, {0x55u}, large, plan.result, i, ostraka::planner::no_tensor};
    s.to.over[0].code = static_cast<std::uint32_t>(i);
    plan.steps.push_back(s);
  }
  CHECK(packed_size(plan) > 0);
  CHECK(packed_size(einsum_plan{}) > 0);
}

TEST_CASE("numbers by hand: seven bits a byte, the low ones first") {
  ostraka::planner::detail::packing<16> to;
  to.put(5);
  to.put(127);
  to.put(128);
  to.put(std::uint64_t{300});
  unsigned char const by_hand[] = {5, 127, 0x80, 1, 0xac, 2};
  REQUIRE(to.count == 6);
  for (int i = 0; i < 6; ++i) CHECK(to.bytes[i] == by_hand[i]);
  ostraka::planner::detail::unpacking from(by_hand);
  for (int const n : {5, 127, 128, 300}) CHECK(from.get_int() == n);
}
