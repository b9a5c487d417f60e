// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. How the partial sums of a tensor are reduced on the way to another sharding: which mesh axes are scattered onto which
/// label, which are reduced everywhere, and on which slices meanwhile. [I] {U_X} → [I_Y] {U_X} → [I_YX] → [I]

#include <algorithm>

#include <ostraka/plan/cost.hpp>
#include <ostraka/plan/exchange.hpp>

namespace ostraka::planner::detail {

// How partial sums are reduced: first slice, then scatter, then all-reduce the rest.
struct reduction_plan {
  spec sliced{};
  spec scattered{};
  spec reduced{};
  double volume = unbounded;  // with the exchange that follows
};

// The next order of the same mesh axes; false, and the first one again, after the last.
constexpr bool next_order(mesh_order& order) {
  int axes[max_mesh_axes]{};
  int const n = order.size();
  for (int i = 0; i < n; ++i) axes[i] = order[i];
  bool const more = std::next_permutation(axes, axes + n);
  order = {};
  for (int i = 0; i < n; ++i) order.push_back(axes[i]);
  return more;
}

// Where the mesh axes go that are scattered or sliced onto labels: 0 for none, else 1 + position of the label.
struct placement {
  int at[max_mesh_axes]{};

  // The next one, counting over `axes` with `rank` labels; false after the last.
  constexpr bool advance(mesh_set axes, int rank) {
    for (int m = 0; m < max_mesh_axes; ++m) {
      if (!axes.contains(m)) continue;
      at[m] = at[m] == rank ? 0 : at[m] + 1;
      if (at[m] != 0) return true;
    }
    return false;
  }

  [[nodiscard]] constexpr mesh_set placed(mesh_set axes) const {
    mesh_set s;
    for (int m = 0; m < max_mesh_axes; ++m)
      if (axes.contains(m) && at[m] != 0) s.insert(m);
    return s;
  }

  // The axes that share a label with another one, if any.
  [[nodiscard]] constexpr mesh_order crowded(mesh_set axes, int rank) const {
    mesh_order o;
    for (int i = 1; i <= rank; ++i) {
      mesh_set here;
      for (int m = 0; m < max_mesh_axes; ++m)
        if (axes.contains(m) && at[m] == i) here.insert(m);
      for (int m = 0; m < max_mesh_axes; ++m)
        if (here.count() > 1 && here.contains(m)) o.push_back(m);
    }
    return o;
  }

  [[nodiscard]] constexpr spec applied(spec s, mesh_set axes, spec const& wish, mesh_order rest) const {
    for (int i = 0; i < s.rank; ++i) {
      mesh_set here;
      for (int m = 0; m < max_mesh_axes; ++m)
        if (axes.contains(m) && at[m] == i + 1) here.insert(m);
      s.over[i] = extended(s.over[i], here, wish.over[i], rest);
    }
    s.partial = s.partial - placed(axes);
    return s;
  }
};

// The cheapest of: each mesh axis of `reduce` all-reduced or scattered onto any label, each of `idle` left or sliced onto any.
// Nothing is found, and the volume unbounded, if all cost `bound` or more.
constexpr reduction_plan best_reduction(spec const& from, spec const& to, mesh_set reduce, mesh_set idle, extents const& e, double bound) {
  double const held = ideal_held(from, e);
  reduction_plan best;
  double const least = held / static_cast<double>(e.ways(idle));  // sliced over all that is idle, then scattered over all
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
      p.sliced = where.applied(from, idle, to, rest);
      p.scattered = where.applied(p.sliced, reduce, to, rest);
      p.reduced = p.scattered;
      p.reduced.partial = p.sliced.partial - reduce;
      p.volume = volume + ideal_exchange(sliced_towards(p.reduced, to), to, e, std::min(bound, best.volume) - volume);
      if (p.volume < bound && p.volume < best.volume) best = p;
    } while (next_order(rest));
  } while (where.advance(reduce | idle, from.rank));
  return best;
}

}  // namespace ostraka::planner::detail
