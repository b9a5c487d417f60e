// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. A tensor on its way from one mesh to another: the devices that hold each block on the two meshes, the
/// messages between them, and their sizes. A[I_X, J] on {X: 4} → A[I_X, J] on {X: 2, Y: 2}: mesh axes of two meshes are
/// different axes, even if they have the same name.
///
///     source        target        on the source mesh               then, between the meshes
///     [I_X, J]      [I_Z, J]      nothing                          each process gets what it needs and lacks
///     [I]           [I_Z]         nothing                          devices that hold the same block share the sending
///     [I] {U_X}     any           slice, reduce_scatter or         the same
///                                 all_reduce: the cheapest
///     any           [I] {U_Z}     as above                         device 0 along Z gets the values, the others zeros

#include <cstdint>

#include <ostraka/plan/reshard/reduce_partials.hpp>
#include <ostraka/plan/spec/blocks.hpp>

namespace ostraka::planner {

/// A tensor on one of the two meshes. All mesh axes have the mesh's own numbers. Labels are common to both sides.
struct mesh_side {
  spec sharding{};
  extents sizes{};
  list_view<int> device{};   ///< for each process, its device number on this mesh; −1 if it has none
  list_view<int> process{};  ///< for each device, the number of its process

  [[nodiscard]] constexpr int processes() const { return device.size(); }

  [[nodiscard]] constexpr coordinates at(int p) const {
    int const d = device[p];
    if (d < 0) return {{}, true};
    return coordinates_of(d, mesh_set::first(sizes.mesh_axes), sizes);
  }

  /// The number of the device's copy of its block: 0 … copies() − 1.
  [[nodiscard]] constexpr std::int64_t copy(coordinates const& c) const {
    return number_along(mesh_set::first(sizes.mesh_axes) - sharding.splits(), c);
  }
  [[nodiscard]] constexpr std::int64_t copies() const {
    return sizes.ways(mesh_set::first(sizes.mesh_axes) - sharding.splits());
  }

  /// The process that holds copy `n` of the block of the device with these coordinates.
  [[nodiscard]] constexpr int holder(coordinates const& c, std::int64_t n) const {
    mesh_set const all = mesh_set::first(sizes.mesh_axes);
    coordinates other = coordinates_of(n, all - sharding.splits(), sizes);
    for (int m = 0; m < sizes.mesh_axes; ++m)
      if (sharding.splits().contains(m)) other.at[m] = c.at[m];
    return process[static_cast<int>(number_along(all, other))];
  }

  /// True if the device holds values. The other devices of a partial tensor hold neutral elements: zeros for a sum.
  [[nodiscard]] constexpr bool has_values(coordinates const& c) const {
    for (int m = 0; m < sizes.mesh_axes; ++m)
      if (sharding.partial.contains(m) && c.at[m] != 0) return false;
    return !c.nowhere;
  }

 private:
  [[nodiscard]] constexpr std::int64_t number_along(mesh_set axes, coordinates const& c) const {
    std::int64_t n = 0;
    for (int m = 0; m < sizes.mesh_axes; ++m)
      if (axes.contains(m)) n = n * sizes.mesh[m] + c.at[m];
    return n;
  }
};

namespace detail {

// The number of elements of the block at `held` whose values the device at `wanted` needs.
constexpr std::int64_t common(mesh_side const& source, coordinates const& held, mesh_side const& target,
                              coordinates const& wanted) {
  if (held.nowhere || !target.has_values(wanted)) return 0;
  std::int64_t n = 1;
  for (int i = 0; i < source.sharding.rank && n > 0; ++i)
    n *= intersect(range_of(source.sharding, i, held, source.sizes), range_of(target.sharding, i, wanted, target.sizes))
             .size();
  return n;
}

constexpr bool same_block(mesh_side const& side, coordinates const& a, coordinates const& b) {
  for (int m = 0; m < side.sizes.mesh_axes; ++m)
    if (side.sharding.splits().contains(m) && a.at[m] != b.at[m]) return false;
  return !a.nowhere && !b.nowhere;
}

// True if another process has to send process p a part of the block at `held`.
constexpr bool lacks(mesh_side const& source, coordinates const& held, mesh_side const& target, int p) {
  return common(source, held, target, target.at(p)) > 0 && !same_block(source, held, source.at(p));
}

}  // namespace detail

/// Calls f(p) for each process p to which `me` sends a part of its block, in ascending order. The processes that need a
/// block are distributed over those that hold it, so that no process serves all others.
/// @pre the source is not partial
template <class F>
constexpr void for_each_receiver(mesh_side const& source, mesh_side const& target, int me, F&& f) {
  coordinates const here = source.at(me);
  if (here.nowhere) return;
  std::int64_t turn = 0;
  for (int p = 0; p < target.processes(); ++p)
    if (detail::lacks(source, here, target, p) && turn++ % source.copies() == source.copy(here)) f(p);
}

/// Calls f(p) for each process p that sends `me` a part of its block, once each.
/// @pre the source is not partial
template <class F>
constexpr void for_each_sender(mesh_side const& source, mesh_side const& target, int me, F&& f) {
  for (int d = 0; d < source.process.size(); ++d) {
    coordinates const held = source.at(source.process[d]);
    if (source.copy(held) != 0 || !detail::lacks(source, held, target, me)) continue;
    std::int64_t turn = 0;
    for (int p = 0; p < me; ++p) turn += detail::lacks(source, held, target, p) ? 1 : 0;
    f(source.holder(held, turn % source.copies()));
  }
}

/// The number of elements that go from process to process: the elements that the holders of the target's values need
/// and lack. No exchange moves fewer.
/// @pre the source is not partial
[[nodiscard]] constexpr std::int64_t elements_exchanged(mesh_side const& source, mesh_side const& target) {
  std::int64_t n = 0;
  for (int p = 0; p < target.processes(); ++p) {
    coordinates const c = target.at(p);
    if (target.has_values(c))
      n += block_size(target.sharding, c, target.sizes) - detail::common(source, source.at(p), target, c);
  }
  return n;
}

/// A reshard between meshes: moves on the source mesh, then one exchange between the two.
struct mesh_reshard {
  mesh_side start{};      ///< the tensor before the steps
  reshard_steps steps{};  ///< on the source mesh; none unless the source is partial
  mesh_side source{};     ///< the tensor after the steps
  mesh_side target{};

  /// The number of elements moved, added over all processes; exact, also for uneven blocks.
  [[nodiscard]] constexpr std::int64_t elements_moved() const {
    std::int64_t n = elements_exchanged(source, target);
    for (planned_step const& s : steps) n += planner::elements_moved(s, start.sizes);
    return n;
  }
};

/// The largest number of placements of the partial and the idle mesh axes on labels that the search tries. Further mesh
/// axes go to the label with the most indices.
inline constexpr std::int64_t most_placements = 1024;

namespace detail {

// Appends the slice, reduce-scatter and all-reduce by which a placement reduces a partial tensor.
constexpr void append_reduction(mesh_reshard& plan, placement const& where, mesh_set idle, mesh_order order) {
  spec const& from = plan.start.sharding;
  spec const scattered = where.applied(from, from.partial | idle, from, order);
  spec const sliced = sliced_before(from, scattered, from.partial);
  plan.source.sharding = scattered;
  plan.source.sharding.partial = {};
  append(plan.steps, step::slice, 0, sliced.splits() - from.splits(), from, sliced);
  append(plan.steps, step::reduce_scatter, 0, sliced.partial - scattered.partial, sliced, scattered);
  append(plan.steps, step::all_reduce, 0, scattered.partial, scattered, plan.source.sharding);
}

}  // namespace detail

/// The cheapest reshard. Each mesh axis over which the source is partial is scattered onto a label or reduced
/// everywhere. Each mesh axis that the source does not use is sliced onto a label first, or left unused. The search
/// compares all combinations by the elements that they and the following exchange move.
[[nodiscard]] constexpr mesh_reshard plan_reshard(mesh_side const& source, mesh_side const& target) {
  spec const& from = source.sharding;
  mesh_reshard best{source, {}, source, target};
  if (from.partial.empty()) return best;
  int largest = 0;
  for (int i = 1; i < from.rank; ++i)
    if (source.sizes.label[from.label[i]] > source.sizes.label[from.label[largest]]) largest = i;
  mesh_set const idle = mesh_set::first(source.sizes.mesh_axes) - from.uses();
  mesh_set searched;
  std::int64_t placements = 1;
  detail::placement where;
  for (int m = 0; m < source.sizes.mesh_axes; ++m) {
    if (!(idle | from.partial).contains(m) || from.rank == 0) continue;
    if (source.sizes.mesh[m] > 1 && placements * (from.rank + 1) <= most_placements) {
      placements *= from.rank + 1;
      searched.insert(m);
    } else if (source.sizes.mesh[m] > 1 || from.partial.contains(m)) {
      where.at[m] = 1 + largest;
    }
  }
  std::int64_t least = -1;
  do {
    mesh_order order = where.crowded(idle | from.partial, from.rank);
    do {
      mesh_reshard plan{source, {}, source, target};
      detail::append_reduction(plan, where, idle, order);
      std::int64_t const n = plan.elements_moved();
      if (least >= 0 && n >= least) continue;
      least = n;
      best = plan;
    } while (detail::next_order(order));
  } while (where.advance(searched, from.rank));
  return best;
}

}  // namespace ostraka::planner
