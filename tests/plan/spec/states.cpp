// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The state of a tensor along a mesh axis is the same in both views, spec and layout; and the two tables over states
/// equal the rules of the algebra, cell by cell.

#include <doctest/doctest.h>

#include <ostraka/plan/reshard/plan_reshard.hpp>
#include <ostraka/plan/search/layout.hpp>

#include "plan/every_spec.hpp"

using namespace ostraka::testing;
using ostraka::step;
using ostraka::planner::axis_state;
using ostraka::planner::becomes;
using ostraka::planner::common_indices;
using ostraka::planner::meeting;
using ostraka::planner::meets;
using ostraka::planner::plan_reshard;
using ostraka::planner::detail::layout;

namespace detail = ostraka::planner::detail;

namespace {

constexpr axis_state R{};
constexpr axis_state Si = axis_state::split(0, 0);
constexpr axis_state Si_behind = axis_state::split(0, 1);
constexpr axis_state Sj = axis_state::split(15, 5);
constexpr axis_state P = axis_state::partial();

constexpr bool meet_both_ways(axis_state a, axis_state b, meeting m) { return meets(a, b) == m && meets(b, a) == m; }
static_assert(meet_both_ways(R, R, meeting::both_replicated));
static_assert(meet_both_ways(R, Si, meeting::on_one_label) && meet_both_ways(Si, Si_behind, meeting::on_one_label));
static_assert(meet_both_ways(Si, Sj, meeting::on_two_labels));
static_assert(meet_both_ways(P, R, meeting::partial_and_replicated));
static_assert(meet_both_ways(P, Si, meeting::partial_and_split) && meet_both_ways(P, Sj, meeting::partial_and_split));
static_assert(meet_both_ways(P, P, meeting::both_partial));

static_assert(becomes(R, Si) == step::slice && becomes(R, P) == step::mask);
static_assert(becomes(Si, R) == step::all_gather && becomes(Si, P) == step::zero_pad);
static_assert(becomes(Si, Sj) == step::all_to_all && becomes(Si, Si_behind) == step::block_exchange);
static_assert(becomes(P, R) == step::all_reduce && becomes(P, Si) == step::reduce_scatter);

// Every state differs from every other, and names itself.
constexpr bool test_states() {
  for (int l = 0; l < ostraka::planner::max_labels; ++l)
    for (int place = 0; place < ostraka::planner::max_mesh_axes; ++place) {
      axis_state const s = axis_state::split(l, place);
      if (!s.is_split() || s.is_partial() || s.is_replicated() || s.label() != l || s.place() != place) return false;
      for (int side : {0, 1})
        if (s == axis_state::keep_partial(side)) return false;
    }
  for (axis_state s : {R, P, axis_state::keep_partial(0), axis_state::keep_partial(1)})
    if (s.is_split() || s.is_partial() != (s == P) || s.is_replicated() != (s == R)) return false;
  return true;
}
static_assert(test_states());

// True if the number agrees with the spec on every mesh axis, and gives the spec back.
bool is_layout_of(spec const& s, layout q, int mesh_axes) {
  mesh_set partial;
  for (int m = 0; m < mesh_axes; ++m) {
    axis_state const here = state_of(s, m);
    if (detail::state_of(q, m) != here || (here.is_split() != s.splits().contains(m))) return false;
    if (here.is_partial()) partial.insert(m);
    if (detail::with(q, m, here) != q || detail::state_of(detail::without(q, m), m) != R) return false;
  }
  return partial == s.partial && detail::spec_under(s, q) == s && detail::split_axes(q) == s.splits() &&
         detail::marked_axes(detail::partial_marks(q)) == partial;
}

}  // namespace

TEST_CASE("a spec and its layout say the same of every mesh axis") {
  std::int64_t cases = 0;
  for (spec const& s : every_spec({0, 3, 15}, 3)) {
    REQUIRE_MESSAGE(is_layout_of(s, detail::layout_of(s), 3), text_of(s, "i..j...........k"));
    ++cases;
  }
  CHECK(cases > 100);
}

TEST_CASE("every step of a reshard is what its states say, along each of its mesh axes") {
  extents const e = make_extents(2, {12, 8}, {2, 3});
  std::int64_t steps = 0;
  for (spec const& from : every_spec({0, 1}, 2))
    for (spec const& to : every_spec({0, 1}, 2))
      for (auto const& s : plan_reshard(from, to, e))
        for (int m = 0; m < 2; ++m) {
          if (!s.axes.contains(m) || s.kind == step::block_exchange) continue;
          REQUIRE_MESSAGE(becomes(state_of(s.from, m), state_of(s.to, m)) == s.kind, text_of(s.kind));
          ++steps;
        }
  CHECK(steps > 100);
}

TEST_CASE("common indices are those of both blocks") {
  for (std::int64_t a = 1; a < 7; ++a)
    for (std::int64_t b = 1; b < 7; ++b)
      for (std::int64_t i = 0; i < a; ++i)
        for (std::int64_t k = 0; k < b; ++k) {
          std::int64_t n = 0;  // counted one by one
          for (std::int64_t at = 0; at < a * b; ++at) n += at / b == i && at / a == k ? 1 : 0;
          CHECK(common_indices(i, a, k, b) == n);
        }
}
