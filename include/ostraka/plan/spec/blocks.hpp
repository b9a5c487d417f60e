// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. The block distribution: the indices that each device holds. It is exact for uneven extents, extents smaller
/// than the mesh, and zero. Device d of p holds [⌊d·n/p⌋, ⌊(d+1)·n/p⌋) of an axis of extent n. It nests: the blocks of
/// I/X/Y refine those of I/X. This file alone contains the formula: planner, engine and surface call the functions from
/// `range_of` to `largest_block`.

#include <algorithm>
#include <cstdint>

#include <ostraka/plan/spec/step.hpp>

namespace ostraka::planner {

/// A half-open range of global indices.
struct range {
  std::int64_t begin = 0;  ///< the first index
  std::int64_t end = 0;    ///< after the last index

  /// The number of indices.
  [[nodiscard]] constexpr std::int64_t size() const { return end - begin; }
  friend constexpr bool operator==(range, range) = default;
};

/// The common part; empty, never negative, if there is none.
[[nodiscard]] constexpr range intersect(range a, range b) {
  range const r{std::max(a.begin, b.begin), std::min(a.end, b.end)};
  return r.end < r.begin ? range{r.begin, r.begin} : r;
}

/// Block `d` of `p` of `n` indices. @pre 0 ≤ d < p
[[nodiscard]] constexpr range block(std::int64_t n, std::int64_t d, std::int64_t p) {
  if (p == 1) return {0, n};  // the most frequent case, and a division is expensive
  return {d * n / p, (d + 1) * n / p};
}

/// The size of the largest of `p` blocks of `n` indices.
[[nodiscard]] constexpr std::int64_t largest_size(std::int64_t n, std::int64_t p) { return (n + p - 1) / p; }

/// The number of indices, of a · b in all, that block `i` of `a` and block `k` of `b` have in common. It is
/// intersect(block, block).size() in one expression, since searches call it device by device.
[[nodiscard]] constexpr std::int64_t common_indices(std::int64_t i, std::int64_t a, std::int64_t k, std::int64_t b) {
  std::int64_t const begin = i * b > k * a ? i * b : k * a;
  std::int64_t const end = (i + 1) * b < (k + 1) * a ? (i + 1) * b : (k + 1) * a;
  return end > begin ? end - begin : 0;
}

/// The part of a block that a pass covers; the label has extent `n`.
[[nodiscard]] constexpr range covered(range held, pass const& p, std::int64_t n) {
  range const part = block(p.of_each_block ? held.size() : n, p.part, p.parts);
  return p.of_each_block ? range{held.begin + part.begin, held.begin + part.end} : intersect(held, part);
}

/// Coordinates of a device along the mesh axes.
struct coordinates {
  std::int64_t at[max_mesh_axes]{};
  bool nowhere = false;  ///< true if the process is not a device of the mesh and holds nothing
};

/// The number of the block that the device holds of a label that these mesh axes split: from its coordinates, the major
/// one first.
[[nodiscard]] constexpr std::int64_t block_number(mesh_order over, coordinates const& device, extents const& e) {
  std::int64_t d = 0;
  for (std::uint32_t rest = over.code; rest != 0; rest >>= 4) {
    int const m = static_cast<int>(rest & 15) - 1;
    d = d * e.mesh[m] + device.at[m];
  }
  return d;
}

/// The global indices of dimension `i` that the device holds under `s`.
[[nodiscard]] constexpr range range_of(spec const& s, int i, coordinates const& device, extents const& e) {
  if (device.nowhere) return {};
  std::int64_t const n = e.label[s.label[i]];
  range const held = block(n, block_number(s.over[i], device, e), e.ways(s.over[i]));
  return s.label[i] == e.now.label ? covered(held, e.now, n) : held;
}

/// Number of elements that the device holds.
[[nodiscard, gnu::cold]] constexpr std::int64_t block_size(spec const& s, coordinates const& device, extents const& e) {
  std::int64_t n = device.nowhere ? 0 : 1;
  for (int i = 0; i < s.rank; ++i) n *= range_of(s, i, device, e).size();
  return n;
}

/// The number of indices of dimension `i` in the largest block; with passes, in the largest block of any pass.
[[nodiscard]] constexpr std::int64_t largest_range(spec const& s, int i, extents const& e) {
  std::int64_t const whole = e.label[s.label[i]];
  std::int64_t const held = largest_size(whole, e.ways(s.over[i]));
  if (s.label[i] != e.now.label) return held;
  return std::min(held, largest_size(e.now.of_each_block ? held : whole, e.now.parts));
}

/// The number of elements of the largest block; with passes, of the largest block of any pass.
[[nodiscard, gnu::cold]] constexpr std::int64_t largest_block(spec const& s, extents const& e) {
  std::int64_t n = 1;
  for (int i = 0; i < s.rank; ++i) n *= largest_range(s, i, e);
  return n;
}

/// The coordinates of device number `device` among the devices along `axes`, the first mesh axis major. They are 0
/// along other axes.
[[nodiscard]] constexpr coordinates coordinates_of(std::int64_t device, mesh_set axes, extents const& e) {
  coordinates c;
  for (int m = e.mesh_axes - 1; m >= 0; --m)
    if (axes.contains(m)) {
      c.at[m] = device % e.mesh[m];
      device /= e.mesh[m];
    }
  return c;
}

/// The number of elements that all devices hold together. It is exact even for uneven blocks, which add up to the
/// extent.
[[nodiscard, gnu::cold]] constexpr std::int64_t held_by_all(spec const& s, extents const& e) {
  return e.whole(s) * (e.devices() / e.ways(s.splits()));
}

namespace detail {

// The number of elements that the devices along `axes` hold under both shardings, added over them, without a loop over
// the devices; −1 if it is unknown. The common parts of a dimension add up to its extent if the blocks under one
// sharding nest within those under the other, or if the two shardings share no mesh axis. If these parts are also
// equal, each one is the extent divided by their number, even if other dimensions use the same mesh axes.
[[nodiscard, gnu::cold]] constexpr std::int64_t held_by_both_in_parts(spec const& a, spec const& b, mesh_set axes,
                                                                      extents const& e) {
  std::int64_t elements = 1;
  mesh_set seen;  // mesh axes seen in dimensions whose parts are not equal
  mesh_set seen_twice;
  for (int i = 0; i < a.rank; ++i) {
    mesh_set const both = a.over[i].axes() | b.over[i].axes();
    std::int64_t const n = e.label[a.label[i]];
    bool const nests = a.over[i].starts_with(b.over[i]) || b.over[i].starts_with(a.over[i]);
    bool const apart = (a.over[i].axes() & b.over[i].axes()).empty();
    if (a.label[i] == e.now.label || !(nests || apart)) return -1;
    bool const equal = nests && n % e.ways(both) == 0;
    elements *= equal ? n / e.ways(both) : n;
    if (equal) continue;
    seen_twice = seen_twice | (seen & both);
    seen = seen | both;
  }
  return e.ways(seen_twice) > 1 ? -1 : elements * e.ways(axes - seen);
}

}  // namespace detail

/// The number of elements that the devices hold under both shardings, added over all devices.
/// @pre both have the same labels in the same order
[[nodiscard, gnu::cold]] constexpr std::int64_t held_by_both(spec const& a, spec const& b, extents const& e) {
  mesh_set const axes = a.splits() | b.splits();
  constexpr std::int64_t few = 64;  // planners loop over up to this many devices at compile time
  if (e.ways(axes) > few)
    if (std::int64_t const n = detail::held_by_both_in_parts(a, b, axes, e); n >= 0)
      return n * (e.devices() / e.ways(axes));
  std::int64_t sum = 0;
  for (std::int64_t device = 0; device < e.ways(axes); ++device) {
    coordinates const c = coordinates_of(device, axes, e);
    std::int64_t n = 1;
    for (int i = 0; i < a.rank; ++i) n *= intersect(range_of(a, i, c, e), range_of(b, i, c, e)).size();
    sum += n;
  }
  return sum * (e.devices() / e.ways(axes));
}

namespace detail {

// True if a part is narrower than the block along dimension `i`.
constexpr bool narrower(spec const& whole, spec const& parts, int i) {
  return common_prefix(whole.over[i], parts.over[i]) < parts.over[i].size();
}

// True if each part of a dense block is one run of memory.
[[gnu::cold]] constexpr bool in_runs(spec const& whole, spec const& parts, extents const& e) {
  bool several = false;  // indices along an earlier dimension
  for (int i = 0; i < whole.rank; ++i) {
    if (several && narrower(whole, parts, i)) return false;
    several = several || largest_size(e.label[whole.label[i]], e.ways(whole.over[i])) > 1;
  }
  return true;
}

}  // namespace detail

/// The number of elements that a step moves, added over all devices; exact for any extents. Gathers and exchanges count
/// the elements that a device receives from others, reduce-scatter those that it sends to others, all-reduce 2(n−1)/n
/// of the block.
[[nodiscard, gnu::cold]] constexpr std::int64_t elements_moved(planned_step const& s, extents const& e) {
  switch (s.kind) {
    case step::all_gather: return held_by_all(s.to, e) - held_by_all(s.from, e);
    case step::reduce_scatter: return (e.ways(s.axes) - 1) * held_by_all(s.to, e);
    case step::all_reduce: return 2 * (e.ways(s.axes) - 1) * (held_by_all(s.from, e) / e.ways(s.axes));
    case step::all_to_all:
    case step::block_exchange: return held_by_all(s.to, e) - held_by_both(s.from, s.to, e);
    default: return 0;
  }
}

}  // namespace ostraka::planner
