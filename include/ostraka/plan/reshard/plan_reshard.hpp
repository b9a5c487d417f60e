// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. Moves a tensor from any sharding to any other by the cheapest steps.
///
/// Without partial sums it takes at most a free slice and one exchange, which moves exactly the elements that the
/// devices need and lack: no other sequence can move fewer. The exchange has the name of the corresponding collective.
///
///     source        target        steps
///     [I]           [I_X]         slice<I/X>
///     [I_XY]        [I_X]         all_gather<Y>             minor end
///     [I_X, J]      [I, J_X]      all_to_all<X>             minor end to minor end
///     [I, J_X]      [I_Y, J]      slice<I/Y>, all_gather<X>
///     [I_XY]        [I_Y]         block_exchange<X, Y>      blocks change places
///     [I] {U_X}     [I]           all_reduce<X>
///     [I] {U_X}     [I_X]         reduce_scatter<I/X>
///     [I] {U_X}     [I_XY]        reduce_scatter<I/X>       of the slice over Y, which is not contiguous
///     [I_X]         [I] {U_X}     zero_pad
///     [I]           [I] {U_X}     mask
///
/// Partial sums are reduced before anything is gathered, and after the tensor is sliced as far as possible. For each of
/// their mesh axes a search decides whether to reduce everywhere or to scatter, and onto which label.

#include <ostraka/plan/reshard/reduce_partials.hpp>

namespace ostraka::planner {

/// How summands may be sliced when they are reduced. In a reshard alone, the scatter itself slices (`at_once`). For an
/// operand, the slice comes before the scatter (`before`). For a result, whose operands could have been sliced, it also
/// comes before, but only over mesh axes of the target (`of_target`). The search for einsums prices the latter two.
enum class slicing : std::uint8_t { at_once, before, of_target };

namespace detail {

[[gnu::cold]] constexpr mesh_set idle_axes(spec const& start, spec const& before, spec const& to, extents const& e,
                                           slicing how) {
  return (how != slicing::of_target ? mesh_set::first(e.mesh_axes) : to.partial | before.splits()) - start.uses() -
         before.partial;
}

// Partial sums in `to` are made with zeros: from the blocks of a divided label, at the start or at the end (zero-pad),
// or by a mask at the end. The steps from `start` to `before` make no partial sums.
struct between {
  spec start{};
  spec before{};
};

// `how` says, for each mesh axis over which `to` is partial: 0 to keep partial sums and to pad a divided label at the
// start, else 1 + position of the label that is padded at the end, or 1 + rank for a mask at the end. Several axes that
// are padded on one label have the order of `among`. Returns false if an axis cannot be padded at the start.
constexpr bool way_between(spec const& from, spec const& to, placement const& how, mesh_order among, between& way) {
  way = {from, to};
  mesh_set early;
  mesh_set late[max_rank]{};
  for (int m = 0; m < max_mesh_axes; ++m) {
    if (!to.partial.contains(m)) continue;
    bool const kept = how.at[m] == 0 && from.uses().contains(m);
    if (!kept) way.before.partial = way.before.partial - mesh_set::of(m);
    if (kept && !from.partial.contains(m)) early.insert(m);
    if (how.at[m] > 0 && how.at[m] <= from.rank) late[how.at[m] - 1].insert(m);
  }
  way.start.partial = from.partial | early;
  if (from.partial.empty()) way.start.kind = to.kind;
  for (int i = 0; i < from.rank; ++i) {
    mesh_order& over = way.start.over[i];
    while (!over.empty() && early.contains(over[over.size() - 1])) over.erase(over.size() - 1);
    way.before.over[i] = extended(to.over[i], late[i], from.over[i], among);
  }
  return (way.start.splits() & early).empty();
}

constexpr bool has_to_reduce(between const& way) { return !(way.start.partial - way.before.partial).empty(); }

[[gnu::cold]] constexpr double volume_between(between const& way, spec const& to, extents const& e, slicing how,
                                              double bound) {
  if (way.start == way.before) return 0;
  if (!has_to_reduce(way)) return ideal_exchange(sliced_towards(way.start, way.before), way.before, e, bound);
  return best_reduction(way.start, way.before, way.start.partial - way.before.partial,
                        idle_axes(way.start, way.before, to, e, how), e, bound, how == slicing::at_once)
      .volume;
}

struct best_between {
  between way{};
  double volume = unbounded;
};

[[gnu::cold]] constexpr best_between cheapest_between(spec const& from, spec const& to, extents const& e,
                                                      slicing how) {
  best_between best;
  placement where;
  do {
    mesh_order among = where.crowded(to.partial, from.rank);
    do {
      between way;
      if (!way_between(from, to, where, among, way)) continue;
      double const volume = volume_between(way, to, e, how, best.volume);
      if (volume < best.volume) best = {way, volume};
    } while (next_order(among));
  } while (best.volume > 0 && where.advance(to.partial, from.rank + 1));
  return best;
}

// True if both are partial, but not of the same kind. The first is then reduced before the second is made, because a
// sum of maxima is not a maximum of sums.
constexpr bool changes_kind(spec const& from, spec const& to) {
  return !from.partial.empty() && !to.partial.empty() && from.kind != to.kind;
}

constexpr spec without_partial(spec s) {
  s.partial = {};
  return s;
}

}  // namespace detail

/// The number of elements that the cheapest reshard moves over all devices if the tensor is evenly divided.
[[nodiscard, gnu::cold]] constexpr double reshard_volume(spec const& from, spec const& to, extents const& e,
                                                         slicing how = slicing::at_once) {
  if (from == to) return 0;
  if (from.partial.empty() && to.partial.empty()) return ideal_exchange(detail::sliced_towards(from, to), to, e);
  spec const goal =
      detail::changes_kind(from, to) ? detail::without_partial(to) : to;  // a mask or zeros make it partial without a
                                                                          // move
  return detail::cheapest_between(from, goal, e, how).volume;
}

/// The steps of the cheapest reshard, for the plan of an operation in which the tensor is `operand`.
/// @pre from and to have the same labels in the same order
[[nodiscard, gnu::cold]] constexpr reshard_steps plan_reshard(spec const& from, spec const& to, extents const& e,
                                                              int operand = 0, slicing how = slicing::at_once) {
  reshard_steps steps;
  if (from == to) return steps;
  if (from.partial.empty() && to.partial.empty()) {
    detail::append_exchange(steps, operand, from, to);
    return steps;
  }
  if (detail::changes_kind(from, to)) {
    spec const reduced = detail::without_partial(to);
    steps = plan_reshard(from, reduced, e, operand, how);
    detail::append(steps, step::mask, operand, to.partial, reduced, to);
    return steps;
  }
  detail::between way;
  if (to.partial.empty())
    detail::way_between(from, to, {}, {}, way);  // the only way, at any volume
  else
    way = detail::cheapest_between(from, to, e, how).way;
  auto const& [start, before] = way;
  detail::append(steps, step::zero_pad, operand, from.splits() - start.splits(), from, start);
  spec now = start;
  if (mesh_set const reduce = start.partial - before.partial; !reduce.empty()) {
    auto const r = detail::best_reduction(start, before, reduce, detail::idle_axes(start, before, to, e, how), e,
                                          unbounded, how == slicing::at_once);
    detail::append(steps, step::slice, operand, r.sliced.splits() - start.splits(), start, r.sliced);
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
