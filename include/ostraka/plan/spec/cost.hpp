// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. The costs that planners compare: the costs of moves if every extent were divided evenly. A volume is the
/// number of elements moved, added over all devices, so it is a whole number. It is stored as a double: exact up to
/// 2⁵³, and it never overflows.

#include <cstdint>
#include <limits>

#include <ostraka/plan/spec/blocks.hpp>

namespace ostraka::planner {

/// A volume larger than any real one.
inline constexpr double unbounded = std::numeric_limits<double>::infinity();

/// The number of elements that all devices hold together.
[[nodiscard, gnu::cold]] constexpr double ideal_held(spec const& s, extents const& e) {
  double n = static_cast<double>(e.ways(mesh_set::first(e.mesh_axes) - s.splits()));
  for (int i = 0; i < s.rank; ++i) n *= static_cast<double>(e.label[s.label[i]]);
  return n;
}

namespace detail {

// A resharded label: two lists of mesh axes, `from` and `to`, that split it differently. This holds the rest of each
// list after their common major end, and the number of blocks that the rest makes.
struct resharded_label {
  mesh_order from{};
  mesh_order to{};
  std::int64_t from_parts = 1;
  std::int64_t to_parts = 1;
};

// The part of the label that a device holds under both lists, in units of 1/(from_parts · to_parts).
constexpr std::int64_t overlap(resharded_label const& c, coordinates const& device, extents const& e) {
  return common_indices(block_number(c.from, device, e), c.from_parts, block_number(c.to, device, e), c.to_parts);
}

// The positions along the mesh axes of resharded labels at which a device holds a part of each label under both lists,
// if the lists compare mesh axes of one size: the axis at each place of `from` with the axis at that place of `to`, if
// both have one. The parts of a label overlap if all compared coordinates are equal, and the overlap is the finer part.
// Each comparison that does not follow from the others divides the number of positions by the size. −1 if sizes differ.
[[gnu::cold]] constexpr std::int64_t overlapping_positions(resharded_label const* resharded, int count, mesh_set axes,
                                                           extents const& e) {
  std::int64_t positions = e.ways(axes);
  mesh_set alike[max_mesh_axes]{};  // the other mesh axes whose coordinates equal this one's
  for (int i = 0; i < count; ++i) {
    std::uint32_t to = resharded[i].to.code;
    for (std::uint32_t from = resharded[i].from.code; from != 0 && to != 0; from >>= 4, to >>= 4) {
      int const f = static_cast<int>(from & 15) - 1;
      int const t = static_cast<int>(to & 15) - 1;
      if (f == t || alike[f].contains(t)) continue;
      if (e.mesh[f] != e.mesh[t]) return -1;
      positions /= e.mesh[f];
      mesh_set const joined{alike[f].bits | alike[t].bits | std::uint32_t{1} << f | std::uint32_t{1} << t};
      for (int m = 0; joined.bits >> m != 0; ++m)
        if ((joined.bits >> m & 1) != 0) alike[m] = joined;
    }
  }
  return positions;
}

// The sum over the devices along `axes` of the parts of the resharded labels that they hold under both shardings, each
// in units of 1/(from_parts · to_parts), device by device.
[[gnu::cold]] constexpr std::int64_t summed_overlap(resharded_label const* resharded, int count, mesh_set axes,
                                                    extents const& e) {
  coordinates device;
  std::int64_t sum = 0;
  for (bool more = true; more;) {
    std::int64_t share = 1;
    for (int i = 0; i < count && share > 0; ++i) share *= overlap(resharded[i], device, e);
    sum += share;
    more = false;
    for (int m = 0; m < e.mesh_axes && !more; ++m)
      if (axes.contains(m)) {
        device.at[m] = device.at[m] + 1 == e.mesh[m] ? 0 : device.at[m] + 1;
        more = device.at[m] != 0;
      }
  }
  return sum;
}

// The mean over the devices along `axes` of the fraction of the resharded labels that they hold under both shardings.
[[gnu::cold]] constexpr double mean_overlap(resharded_label const* resharded, int count, mesh_set axes,
                                            extents const& e) {
  std::int64_t sum = overlapping_positions(resharded, count, axes, e);
  double units = static_cast<double>(e.ways(axes));
  for (int i = 0; i < count; ++i) {
    std::int64_t const a = resharded[i].from_parts;
    std::int64_t const b = resharded[i].to_parts;
    sum *= a < b ? a : b;
    units *= static_cast<double>(a * b);
  }
  if (sum < 0) sum = summed_overlap(resharded, count, axes, e);
  return static_cast<double>(sum) / units;
}

}  // namespace detail

/// With more devices than this, the overlap of blocks that change places is its mean over independent positions.
inline constexpr std::int64_t most_devices_counted = 512;

/// The number of elements that devices need under `to` and lack under `from`: the least that any exchange can move. If
/// that is not below `bound`, the function may return `unbounded`.
/// @pre same labels in the same order, both partial over the same mesh axes
[[nodiscard, gnu::cold]] constexpr double ideal_exchange(spec const& from, spec const& to, extents const& e,
                                                         double bound = unbounded) {
  // If one partition refines the other, the overlap is the finer block. If they cross, it depends on the device. If no
  // mesh axis occurs twice, the mean over devices is the product of the fractions.
  double constant = 1;
  double independent = 1;
  double finer = 1;
  detail::resharded_label resharded[max_rank];
  int count = 0;
  mesh_set axes;
  bool shared = false;
  for (int i = 0; i < from.rank; ++i) {
    if (from.over[i].code == to.over[i].code) {
      constant *= static_cast<double>(e.ways(from.over[i]));
      continue;
    }
    int const same = common_prefix(from.over[i], to.over[i]);
    mesh_order const f = from.over[i].after(same);
    mesh_order const t = to.over[i].after(same);
    std::int64_t const f_parts = e.ways(f);
    std::int64_t const t_parts = e.ways(t);
    constant *= static_cast<double>(e.ways(from.over[i]) / f_parts);
    if (f.empty() || t.empty()) {
      constant *= static_cast<double>(f_parts * t_parts);
    } else {
      independent *= static_cast<double>(f_parts * t_parts);
      finer *= static_cast<double>(f_parts > t_parts ? f_parts : t_parts);
      shared = shared || !(f.axes() & t.axes()).empty() || !(axes & (f.axes() | t.axes())).empty();
      axes = axes | f.axes() | t.axes();
      resharded[count++] = {f, t, f_parts, t_parts};
    }
  }
  double const held = ideal_held(to, e);
  double const everywhere = held * static_cast<double>(e.ways(to.splits()));
  if (!shared || e.ways(axes) > most_devices_counted) return held - everywhere / (constant * independent);
  double const least =
      held - everywhere / (constant * finer);  // if every device already held the finer of its two blocks
  if (least >= bound) return unbounded;
  return held - everywhere / constant * detail::mean_overlap(resharded, count, axes, e);
}

}  // namespace ostraka::planner
