// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. The viewpoint from which a plan is lowered: extents, a device, and the properties of the call that change
/// the actions. Predictions lower a plan for the last device, whose blocks are the largest, instead of a particular
/// one.

#include <algorithm>
#include <cstdint>
#include <limits>

#include <ostraka/plan/blocks/strided_box.hpp>
#include <ostraka/plan/spec/blocks.hpp>

namespace ostraka::planner {

/// The capabilities of MPI. A message may consist of runs of memory and, if MPI accepts them, of blocks with long rows,
/// within limits of length, which are sent and received in place.
struct transport {
  bool takes_blocks = false;
  int element_bytes = 1;
  std::int64_t shortest_message = 0;  ///< bytes of a message of blocks, at least
  std::int64_t shortest_row = 0;      ///< bytes
  std::int64_t longest_message = 0;   ///< elements of a message of blocks, at most
  std::uint32_t reduced_by_mpi = 0;  ///< reductions that MPI performs by itself, one bit each: they need no buffers
  std::int64_t round = std::numeric_limits<std::int64_t>::max();  ///< elements that a device sends in one round of a
                                                                  ///< long exchange, to all others together
  std::int64_t shortest_piece = 0;  ///< elements of a part, to one other device, that travels in more than one round

  [[nodiscard]] constexpr bool reduces(reduction how) const {
    return (reduced_by_mpi >> static_cast<unsigned>(how) & 1) != 0;
  }

  [[nodiscard]] constexpr bool takes(strided_box const& b) const {
    std::int64_t const elements = b.where.size();
    int const row = b.where.rank - 1;
    for (int i = 0; i < row; ++i)
      if (b.stride[i] < 0) return false;  // some rearrangements reverse an axis
    return takes_blocks && b.across.empty() && row >= 0 && elements * element_bytes >= shortest_message &&
           elements <= longest_message && b.stride[row] == 1 &&
           b.where.at[row].size() * element_bytes >= shortest_row;
  }

  /// The number of rounds of an exchange with `peers` others whose longest part has `part` elements. All devices
  /// compute the same number. A round's packed parts stay in a cache; the limit bounds the length of a schedule.
  [[nodiscard]] constexpr std::int64_t rounds_of(std::int64_t part, std::int64_t peers) const {
    constexpr std::int64_t most_pieces = 512;
    std::int64_t const piece = std::max({round / peers, shortest_piece, std::int64_t{1}});
    return std::clamp<std::int64_t>(part / piece, 1, std::max<std::int64_t>(1, most_pieces / peers));
  }

  friend constexpr bool operator==(transport const&, transport const&) = default;
};

/// A device, and the call in which it takes part.
struct viewpoint {
  extents sizes{};
  coordinates here{};
  int order[max_mesh_axes]{0, 1, 2, 3, 4, 5, 6};  ///< the order of the running mesh's axes, by the plan's number
  bool scales = false;                            ///< the result is multiplied by an alpha that is not 1
  bool adds = false;                              ///< the old contents are added, times a beta that is not 0
  transport via{};
  strided_box const* given = nullptr;  ///< the layout of operands and result, by buffer; null if all of them are dense.
                                       ///< An operand may cover only a part of its block; the rest is zeros
  bool predicts = false;  ///< for a prediction, without a particular device or call: the order is unknown; uneven parts
                          ///< count with the most that any device has; a tensor that is made in the result counts both
                          ///< as held for an addition to the old contents and as copied

  /// The coordinates of a member of the group along `axes`. Members are numbered in the order of the running mesh, its
  /// first axis major.
  [[nodiscard]] constexpr coordinates member(mesh_set axes, std::int64_t number) const {
    coordinates c = here;
    for (mesh_set rest = axes & mesh_set::first(sizes.mesh_axes); !rest.empty();) {
      int minor = -1;
      for (int m = 0; m < sizes.mesh_axes; ++m)
        if (rest.contains(m) && (minor < 0 || order[m] > order[minor])) minor = m;
      c.at[minor] = number % sizes.mesh[minor];
      number /= sizes.mesh[minor];
      rest = rest - mesh_set::of(minor);
    }
    return c;
  }

  /// This device's number in the group along `axes`.
  [[nodiscard]] constexpr std::int64_t number_in(mesh_set axes) const {
    std::int64_t number = 0;
    std::int64_t devices = 1;
    for (mesh_set rest = axes & mesh_set::first(sizes.mesh_axes); !rest.empty();) {
      int minor = -1;
      for (int m = 0; m < sizes.mesh_axes; ++m)
        if (rest.contains(m) && (minor < 0 || order[m] > order[minor])) minor = m;
      number += here.at[minor] * devices;
      devices *= sizes.mesh[minor];
      rest = rest - mesh_set::of(minor);
    }
    return number;
  }

  /// True if this is the first device along these mesh axes.
  [[nodiscard]] constexpr bool first_along(mesh_set axes) const {
    for (int m = 0; m < sizes.mesh_axes; ++m)
      if (axes.contains(m) && here.at[m] != 0) return false;
    return true;
  }
};

/// The viewpoint of the device, and the pass, with the most of every tensor. With blocks [⌊d·n/p⌋, ⌊(d+1)·n/p⌋) the
/// device with all coordinates last holds ⌈n/p⌉ indices of every label under every sharding, and in the last pass the
/// most of them. `block_size(s, v.here, v.sizes)` is `largest_block(s, e)`.
[[nodiscard]] constexpr viewpoint last_device(extents const& e) {
  viewpoint v;
  v.sizes = e;
  v.sizes.now.part = e.now.parts - 1;
  v.predicts = true;
  v.adds = true;
  for (int m = 0; m < e.mesh_axes; ++m) v.here.at[m] = e.mesh[m] - 1;
  return v;
}

}  // namespace ostraka::planner
