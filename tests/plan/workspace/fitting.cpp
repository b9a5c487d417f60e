// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The plan that keeps within a limit of workspace against brute force: every pair of shardings under which the
/// operands multiply as they are, and every number of passes over every label. The result is the planner's own plan if
/// it fits; else the plan that moves least among those that fit; else none.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include <ostraka/plan.hpp>
#include <ostraka/plan/workspace/fitting.hpp>

#include "plan/search/brute_force.hpp"
#include "plan/every_spec.hpp"

namespace os = ostraka;
namespace t = os::testing;
using namespace ostraka::planner;

namespace {

struct way_to_multiply {
  einsum_plan plan;
  std::int64_t least;  // workspace, in elements
  std::int64_t moved;
};

// The least workspace of a plan in any number of passes over any label, by trying them.
std::int64_t least_workspace(einsum_plan const& plan, extents e) {
  std::int64_t least = peak_workspace(plan, e);
  for (int l = 0; l < e.labels; ++l) {
    if (!detail::splits_into_passes(plan, l)) continue;
    detail::division_of_label const d = detail::division_of(plan, l, e);
    std::int64_t const n = d.same_everywhere ? (e.label[l] + d.blocks - 1) / d.blocks : e.label[l];
    for (std::int64_t parts = 1; parts <= n; ++parts) {
      e.now = {l, d.same_everywhere, 0, parts};
      least = std::min(least, peak_workspace(plan, e));
    }
    e.now = {};
  }
  return least;
}

std::vector<way_to_multiply> every_way(einsum_problem const& p, t::einsum_labels const& names) {
  std::vector<way_to_multiply> all;
  std::vector<spec> const none{spec{}};
  bool const two = p.operands.size() > 1;
  for (spec const& a : t::every_spec(names.operands[0], p.sizes.mesh_axes))
    for (spec const& b : two ? t::every_spec(names.operands[1], p.sizes.mesh_axes) : none) {
      if (!(a.partial - p.operands[0].partial).empty() || (two && !(b.partial - p.operands[1].partial).empty()))
        continue;
      auto const made = t::free_product(two ? std::vector<spec>{a, b} : std::vector<spec>{a}, names.result, p.sizes);
      if (!made) continue;
      einsum_plan plan;
      plan.operands = p.operands;
      plan.result = p.result;
      for (planned_step const& s : plan_reshard(p.operands[0], a, p.sizes, 0, slicing::before)) plan.steps.push_back(s);
      if (two)
        for (planned_step const& s : plan_reshard(p.operands[1], b, p.sizes, 1, slicing::before))
          plan.steps.push_back(s);
      plan.steps.push_back(
          {os::step::contract, the_result, a.splits() | b.splits(), *made, *made, 0, two ? 1 : no_tensor});
      for (planned_step const& s : plan_reshard(*made, p.result, p.sizes, the_result, slicing::of_target))
        plan.steps.push_back(s);
      all.push_back({plan, least_workspace(plan, p.sizes), plan.elements_moved(p.sizes)});
    }
  return all;
}

struct tally {
  std::int64_t own = 0, other = 0, none = 0;
};

void try_problem(einsum_problem const& p, t::einsum_labels const& names, tally& n) {
  einsum_plan const plan = plan_einsum(p);
  std::int64_t const own = least_workspace(plan, p.sizes);
  std::vector<way_to_multiply> const ways = every_way(p, names);
  std::int64_t least = own;
  for (way_to_multiply const& w : ways) least = std::min(least, w.least);
  for (std::int64_t limit : {own, own - 1, (own + least) / 2, least, least - 1}) {
    if (limit < 0) continue;
    fitted_plan const found = fit_plan(plan, p.sizes, {limit});
    CAPTURE(names.text);
    CAPTURE(limit);
    REQUIRE(found.passes.fits == (limit >= least));
    if (limit < least) {
      ++n.none;
      REQUIRE(found.passes.workspace == least);
      continue;
    }
    extents in_passes = p.sizes;
    in_passes.now = found.passes.first;
    REQUIRE(peak_workspace(found.plan, in_passes) <= limit);
    std::int64_t fewest = limit >= own ? plan.elements_moved(p.sizes) : t::unreachable;
    if (limit < own)
      for (way_to_multiply const& w : ways)
        if (w.least <= limit) fewest = std::min(fewest, w.moved);
    ++(limit >= own ? n.own : n.other);
    REQUIRE(found.plan.elements_moved(p.sizes) == fewest);
  }
}

void sweep(char const* text, extents const& e, std::uint64_t every) {
  t::einsum_labels const names(text);
  tally n;
  std::uint64_t count = 0;
  std::vector<spec> const none{spec{}};
  for (spec const& a : t::every_spec(names.operands[0], e.mesh_axes))
    for (spec const& b : names.operands.size() > 1 ? t::every_spec(names.operands[1], e.mesh_axes) : none)
      for (spec const& c : t::every_spec(names.result, e.mesh_axes)) {
        if (count++ % every != 0) continue;
        einsum_problem p;
        p.operands.push_back(a);
        if (names.operands.size() > 1) p.operands.push_back(b);
        p.result = c;
        p.sizes = e;
        try_problem(p, names, n);
      }
  MESSAGE(std::string(text) << ": " << n.own << " own plans, " << n.other << " others, " << n.none << " refused");
  CHECK(n.other > 0);
}

}  // namespace

TEST_CASE("one mesh axis") {
  sweep("ij,jk->ik", t::make_extents(3, {4, 8, 6}, {2}), 1);
  sweep("ij,ij->i", t::make_extents(2, {8, 4}, {2}), 1);
  sweep("bij,bjk->bik", t::make_extents(4, {4, 2, 8, 6}, {2}), 1);
}

TEST_CASE("two mesh axes, uneven blocks among them") {
  sweep("ij,jk->ik", t::make_extents(3, {4, 8, 12}, {2, 2}), 37);
  sweep("ij,jk->ik", t::make_extents(3, {5, 9, 7}, {2, 3}), 61);
  sweep("ijk->ki", t::make_extents(3, {4, 8, 12}, {2, 2}), 7);
}

// ---- while compiling ------------------------------------------------------------------------------------------------

OSTRAKA_AXIS(I, 12);
OSTRAKA_AXIS(J, 20);
OSTRAKA_AXIS(K, 8);
OSTRAKA_MESH_AXIS(X, 2);

namespace {

// C[I_X, K] = A[I, J] · B[J_X, K]: the plan scatters C, whose columns of summands take 24 elements in passes over K;
// one that gathers columns of B takes 20, and rows of it 8, in passes over J.
using A = os::sharding_of<I, J>;
using B = os::sharding_of<J/X, K>;
constexpr auto plan = os::plan_of<os::dims<I/X, K>, A, B>;
constexpr std::int64_t bytes = 4;
static_assert(plan.count(os::step::reduce_scatter) == 1 && plan.bytes() == 192);
static_assert(plan.fitting(24 * bytes).count(os::step::reduce_scatter) == 1);
static_assert(plan.fitting(24 * bytes - 1).count(os::step::all_gather) == 1 &&
              plan.fitting(24 * bytes - 1).bytes() == 320);
static_assert(plan.within(8 * bytes).fits && plan.within(8 * bytes).label == "J");
static_assert(!plan.within(8 * bytes - 1).fits && plan.within(8 * bytes - 1).workspace == 8 * bytes);

// A policy that names a way leaves no choice, and a budget applies to all plans.
static_assert(!os::plan_of<os::dims<I/X, K>, A, B, decltype(os::reduce_result)>.within(24 * bytes - 1).fits);
template <class Policy>
using verdict = os::einsum_verdict<os::sharding_of<I/X, K>, Policy, A, B>;
static_assert(std::is_same_v<verdict<decltype(os::within<8 * bytes>())>, os::reason::ok>);
static_assert(std::is_same_v<verdict<decltype(os::within<8 * bytes - 1>())>,
                             os::reason::plan_exceeds_workspace<8 * bytes, 8 * bytes - 1>>);
static_assert(std::is_same_v<verdict<decltype(os::at_most<319>(os::within<8 * bytes>()))>,
                             os::reason::plan_exceeds_workspace<24 * bytes, 8 * bytes>>);

}  // namespace
