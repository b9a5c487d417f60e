// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. One tensor from any sharding to any other, by the moves that cost least.
///
/// Without partial sums it is at most a free slice and one exchange, which moves exactly what the devices need and do not have:
/// no other sequence can move less. The exchange is called by the collective that it is.
///
///     source        target        steps
///     [I]           [I_X]         slice<I/X>
///     [I_XY]        [I_X]         all_gather<Y>             minor end
///     [I_X, J]      [I, J_X]      all_to_all<X>             minor end to minor end
///     [I, J_X]      [I_Y, J]      slice<I/Y>, all_gather<X>
///     [I_XY]        [I_Y]         block_exchange<X, Y>      blocks change places
///     [I] {U_X}     [I]           all_reduce<X>
///     [I] {U_X}     [I_X]         reduce_scatter<I/X>
///     [I_X]         [I] {U_X}     zero_pad
///     [I]           [I] {U_X}     mask
///
/// Partial sums are reduced before anything is gathered and after what can be sliced is sliced; for each of their mesh axes it is
/// searched whether to reduce everywhere or to scatter onto which label.

#include <limits>

#include <ostraka/plan/cost.hpp>
#include <ostraka/plan/spec.hpp>
#include <ostraka/plan/step.hpp>

namespace ostraka::planner {

/// A volume above all that occur.
inline constexpr double unbounded = std::numeric_limits<double>::infinity();

namespace detail {

// `order` with the axes of `add` at its minor end: in the order of `wish` as long as that continues `order`, the rest by number.
constexpr mesh_order extended(mesh_order order, mesh_set add, mesh_order wish) {
  if (add.empty()) return order;
  if (wish.starts_with(order))
    while (order.size() < wish.size() && add.contains(wish[order.size()])) {
      add = add - mesh_set::of(wish[order.size()]);
      order.push_back(wish[order.size()]);
    }
  for (int m = 0; m < max_mesh_axes; ++m)
    if (add.contains(m)) order.push_back(m);
  return order;
}

// `from` after all slices that `to` asks for at the minor end of a label: free, and they never make the rest dearer.
constexpr spec sliced_towards(spec from, spec const& to) {
  mesh_set const used = from.uses();
  for (int i = 0; i < from.rank; ++i)
    if (from.over[i] != to.over[i] && to.over[i].starts_with(from.over[i]))
      for (int k = from.over[i].size(); k < to.over[i].size() && !used.contains(to.over[i][k]); ++k) from.over[i].push_back(to.over[i][k]);
  return from;
}

// What kind of exchange takes `from` to `to`, and among which devices. @pre from is sliced towards to, from ≠ to
constexpr planned_step exchange_step(int operand, spec const& from, spec const& to) {
  mesh_set removed;
  mesh_set added;
  bool minor_ends_only = true;
  for (int i = 0; i < from.rank; ++i) {
    int const same = common_prefix(from.over[i], to.over[i]);
    mesh_set const out = from.over[i].after(same).axes();
    mesh_set const in = to.over[i].after(same).axes();
    removed = removed | out;
    added = added | in;
    minor_ends_only = minor_ends_only && (out.empty() || in.empty());
  }
  step const kind = minor_ends_only && added.empty()     ? step::all_gather
                    : minor_ends_only && added == removed ? step::all_to_all
                                                          : step::block_exchange;
  return {kind, operand, removed | added, from, to};
}

constexpr void append(reshard_steps& steps, step kind, int operand, mesh_set axes, spec const& from, spec const& to) {
  if (!(from == to)) steps.push_back({kind, operand, axes, from, to});
}

// Slice and exchange. @pre partial over the same mesh axes
constexpr void append_exchange(reshard_steps& steps, int operand, spec const& from, spec const& to) {
  spec const sliced = sliced_towards(from, to);
  append(steps, step::slice, operand, sliced.splits() - from.splits(), from, sliced);
  if (!(sliced == to)) steps.push_back(exchange_step(operand, sliced, to));
}

// How partial sums are reduced: first slice, then scatter, then all-reduce the rest.
struct reduction_plan {
  spec sliced{};
  spec scattered{};
  spec reduced{};
  double volume = unbounded;  // with the exchange that follows
};

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

  [[nodiscard]] constexpr spec applied(spec s, mesh_set axes, spec const& wish) const {
    for (int i = 0; i < s.rank; ++i) {
      mesh_set here;
      for (int m = 0; m < max_mesh_axes; ++m)
        if (axes.contains(m) && at[m] == i + 1) here.insert(m);
      s.over[i] = extended(s.over[i], here, wish.over[i]);
    }
    s.partial = s.partial - placed(axes);
    return s;
  }
};

// The cheapest of: each mesh axis of `reduce` all-reduced or scattered onto any label, each of `idle` left or sliced onto any.
// Nothing is found, and the volume unbounded, if all cost `bound` or more.
constexpr reduction_plan best_reduction(spec const& from, spec const& to, mesh_set reduce, mesh_set idle, extents const& e, double bound) {
  spec const start = sliced_towards(from, to);
  idle = idle - start.splits();
  double const held = ideal_held(start, e);
  reduction_plan best;
  placement where;
  do {
    mesh_set const scatter = where.placed(reduce);
    double const sliced = held / static_cast<double>(e.ways(where.placed(idle)));
    double const scattered = sliced / static_cast<double>(e.ways(scatter));
    double const ways_left = static_cast<double>(e.ways(reduce - scatter));
    double const volume = (sliced - scattered) + 2 * (ways_left - 1) * (scattered / ways_left);
    if (volume >= bound || volume >= best.volume) continue;
    reduction_plan p;
    p.sliced = where.applied(start, idle, to);
    p.scattered = where.applied(p.sliced, reduce, to);
    p.reduced = p.scattered;
    p.reduced.partial = p.sliced.partial - reduce;
    p.volume = volume + ideal_exchange(sliced_towards(p.reduced, to), to, e);
    if (p.volume < bound && p.volume < best.volume) best = p;
  } while (where.advance(reduce | idle, from.rank));
  return best;
}

// `to` without the partial sums that are made at the very end: where the source is divided over such a mesh axis it stays so
// until it is padded with zeros.
constexpr spec before_padding(spec const& from, spec const& to) {
  mesh_set const made = to.partial - from.partial;
  spec before = to;
  before.partial = to.partial - made;
  for (int i = 0; i < from.rank; ++i) before.over[i] = extended(to.over[i], from.over[i].axes() & made, from.over[i]);
  return before;
}

constexpr bool has_to_reduce(spec const& from, spec const& to) { return !(from.partial - to.partial).empty(); }

constexpr mesh_set idle_axes(spec const& from, spec const& to, extents const& e) {
  return mesh_set::first(e.mesh_axes) - from.uses() - to.partial;
}

}  // namespace detail

/// Elements that the cheapest reshard moves over all devices, evenly divided; some number not below `bound` if that is not below it.
/// `use_idle`: also look for reductions on slices over mesh axes along which the tensor is replicated.
[[nodiscard]] constexpr double reshard_volume(spec const& from, spec const& to, extents const& e, bool use_idle = true, double bound = unbounded) {
  if (from == to) return 0;
  spec const before = detail::before_padding(from, to);
  if (!detail::has_to_reduce(from, to)) return ideal_exchange(detail::sliced_towards(from, before), before, e);
  return detail::best_reduction(from, before, from.partial - to.partial, use_idle ? detail::idle_axes(from, to, e) : mesh_set{}, e, bound).volume;
}

/// The steps of the cheapest reshard, for the plan of an operation in which the tensor is `operand`.
/// @pre from and to have the same labels in the same order
[[nodiscard]] constexpr reshard_steps plan_reshard(spec const& from, spec const& to, extents const& e, int operand = 0, bool use_idle = true) {
  reshard_steps steps;
  if (from == to) return steps;
  spec const before = detail::before_padding(from, to);
  spec now = from;
  if (detail::has_to_reduce(from, to)) {
    mesh_set const reduce = from.partial - to.partial;
    auto const r = detail::best_reduction(from, before, reduce, use_idle ? detail::idle_axes(from, to, e) : mesh_set{}, e, unbounded);
    detail::append(steps, step::slice, operand, r.sliced.splits() - from.splits(), from, r.sliced);
    detail::append(steps, step::reduce_scatter, operand, r.sliced.partial - r.scattered.partial, r.sliced, r.scattered);
    detail::append(steps, step::all_reduce, operand, r.scattered.partial - r.reduced.partial, r.scattered, r.reduced);
    now = r.reduced;
  }
  detail::append_exchange(steps, operand, now, before);
  spec padded = to;
  padded.partial = before.partial | (before.splits() - to.splits());
  detail::append(steps, step::zero_pad, operand, before.splits() - to.splits(), before, padded);
  detail::append(steps, step::mask, operand, to.partial - padded.partial, padded, to);
  return steps;
}

}  // namespace ostraka::planner
