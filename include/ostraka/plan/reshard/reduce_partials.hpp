// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. Plans the reduction of a tensor's partial sums on the way to another sharding: the label onto which each
/// mesh axis is scattered, the mesh axes that are reduced everywhere, and the slices of the tensor on which that
/// happens. [I] {U_X} → [I_Y] {U_X} → [I_YX] → [I]

#include <algorithm>

#include <ostraka/plan/reshard/exchange.hpp>
#include <ostraka/plan/spec/cost.hpp>

namespace ostraka::planner::detail {

// `from` with all slices of `to` that can come before the mesh axes of `scatter` are scattered: on each label, the mesh
// axes before the first one of `scatter`.
[[gnu::cold]] constexpr spec sliced_before(spec const& from, spec const& to, mesh_set scatter) {
  spec s = from;
  for (int i = 0; i < from.rank; ++i)
    for (int k = from.over[i].size(); k < to.over[i].size() && !scatter.contains(to.over[i][k]); ++k)
      s.over[i].push_back(to.over[i][k]);
  return s;
}

// How partial sums are reduced: first slice, then scatter, then all-reduce the rest. If a scattered mesh axis is major
// to a sliced one, the scatter slices as well: [I] {U_X} → [I_XY] sends each device along X the sum of the elements
// that it will hold, and no more.
struct reduction_plan {
  spec sliced{};
  spec scattered{};
  spec reduced{};
  double volume = unbounded;  // including the exchange that follows
};

// Advances to the next order of the same mesh axes. After the last one it returns false and goes back to the first.
[[gnu::cold]] constexpr bool next_order(mesh_order& order) {
  int axes[max_mesh_axes]{};
  int const n = order.size();
  if (n < 2) return false;
  for (int i = 0; i < n; ++i) axes[i] = order[i];
  bool const more = std::next_permutation(axes, axes + n);
  order = {};
  for (int i = 0; i < n; ++i) order.push_back(axes[i]);
  return more;
}

// The labels onto which mesh axes are scattered or sliced: 0 for none, else 1 + position of the label.
struct placement {
  int at[max_mesh_axes]{};

  // Advances to the next placement of `axes` on `rank` labels; returns false after the last.
  [[gnu::cold]] constexpr bool advance(mesh_set axes, int rank) {
    for (int m = 0; axes.bits >> m != 0; ++m) {
      if ((axes.bits >> m & 1) == 0) continue;
      at[m] = at[m] == rank ? 0 : at[m] + 1;
      if (at[m] != 0) return true;
    }
    return false;
  }

  [[nodiscard]] constexpr mesh_set placed(mesh_set axes) const {
    std::uint32_t bits = 0;
    for (int m = 0; axes.bits >> m != 0; ++m)
      if ((axes.bits >> m & 1) != 0 && at[m] != 0) bits |= std::uint32_t{1} << m;
    return {bits};
  }

  // The axes that share a label with another one.
  [[nodiscard, gnu::cold]] constexpr mesh_order crowded(mesh_set axes, int rank) const {
    mesh_order o;
    if ((axes.bits & (axes.bits - 1)) == 0) return o;  // fewer than two
    for (int i = 1; i <= rank; ++i) {
      mesh_set const here = placed_on(i, axes);
      if (here.count() < 2) continue;
      for (int m = 0; here.bits >> m != 0; ++m)
        if (here.contains(m)) o.push_back(m);
    }
    return o;
  }

  [[nodiscard, gnu::cold]] constexpr spec applied(spec s, mesh_set axes, spec const& wish, mesh_order rest) const {
    if (axes.empty()) return s;
    for (int i = 0; i < s.rank; ++i)
      if (mesh_set const here = placed_on(i + 1, axes); !here.empty())
        s.over[i] = extended(s.over[i], here, wish.over[i], rest);
    s.partial = s.partial - placed(axes);
    return s;
  }

  [[nodiscard]] constexpr mesh_set placed_on(int position, mesh_set axes) const {
    std::uint32_t bits = 0;
    for (int m = 0; axes.bits >> m != 0; ++m)
      if ((axes.bits >> m & 1) != 0 && at[m] == position) bits |= std::uint32_t{1} << m;
    return {bits};
  }
};

// The cheapest choice: each mesh axis of `reduce` is all-reduced or scattered onto any label, and each of `idle` is
// left unused or sliced onto any label. `at_once` says that a scatter may slice as well. If all choices cost `bound` or
// more, the volume is unbounded.
[[gnu::cold]] constexpr reduction_plan best_reduction(spec const& from, spec const& to, mesh_set reduce, mesh_set idle,
                                                      extents const& e, double bound, bool at_once) {
  double const held = ideal_held(from, e);
  reduction_plan best;
  double const least =
      held / static_cast<double>(e.ways(idle));  // sliced over all the idle axes, then scattered over all
  if (least - least / static_cast<double>(e.ways(reduce)) >= bound) return best;
  placement where;
  do {
    mesh_set const scatter = where.placed(reduce);
    double const sliced = held / static_cast<double>(e.ways(where.placed(idle)));
    double const scattered = sliced / static_cast<double>(e.ways(scatter));
    double const ways_left = static_cast<double>(e.ways(reduce - scatter));
    double const volume = (sliced - scattered) + 2 * (ways_left - 1) * (scattered / ways_left);
    if (volume >= bound || volume >= best.volume) continue;
    mesh_order rest = where.crowded(reduce | idle, from.rank);
    do {
      reduction_plan p;
      p.scattered = at_once ? where.applied(from, reduce | idle, to, rest)
                            : where.applied(where.applied(from, idle, to, rest), reduce, to, rest);
      p.sliced = sliced_before(from, p.scattered, reduce);
      p.reduced = p.scattered;
      p.reduced.partial = from.partial - reduce;
      p.volume = volume + ideal_exchange(sliced_towards(p.reduced, to), to, e, std::min(bound, best.volume) - volume);
      if (p.volume < bound && p.volume < best.volume) best = p;
    } while (next_order(rest));
  } while (where.advance(reduce | idle, from.rank));
  return best;
}

}  // namespace ostraka::planner::detail
