// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. Rearrangements along one axis as pieces: ranges of indices that land in ranges of the result, possibly
/// reversed or every k-th. Windows, pads, flips, rolls and concatenations are such rearrangements. So are their
/// transposes, which swap `from` and `to`.
///
///     window  [b, e) every k-th   {0 + j of the result} = {b + k·j}
///     pad                         {before + j} = {j}, and blanks
///     flip                        {j} = {n − 1 − j}
///     roll by s                   {s + j} = {j} for j < n − s, {j} = {n − s + j} for j < s
///     concatenate                 {n_0 + … + n_(k−1) + j} = {j of operand k}

#include <algorithm>
#include <cstdint>

#include <ostraka/plan/spec/blocks.hpp>
#include <ostraka/plan/spec/plan.hpp>

namespace ostraka::planner {

/// Indices from, from + from_step, … of an operand's axis become indices to, to + to_step, … of the result's.
struct piece {
  int operand = 0;
  std::int64_t from = 0;
  std::int64_t from_step = 1;  ///< not 0; negative if it is reversed
  std::int64_t to = 0;
  std::int64_t to_step = 1;  ///< positive
  std::int64_t size = 0;
};

/// The most pieces of a rearrangement: one for each operand.
inline constexpr int max_pieces = max_operands;

/// The sources of the result's axis: pieces that do not overlap, and ranges that no piece covers (blanks).
struct rearrangement {
  bounded_list<piece, max_pieces> pieces{};
  bounded_list<range, 2> blanks{};
  std::int64_t extent[max_pieces]{};  ///< extent of the axis in each operand
  std::int64_t result = 0;            ///< the extent of the axis in the result
  bool is_sparse = false;             ///< blanks are all indices without a piece, instead of ranges
};

/// The numbers j for which first + j·step is in `held`, within [0, size).
[[nodiscard]] constexpr range steps_within(range held, std::int64_t first, std::int64_t step, std::int64_t size) {
  if (held.size() <= 0) return {};
  std::int64_t const near = step > 0 ? held.begin : held.end - 1;
  std::int64_t const far = step > 0 ? held.end - 1 : held.begin;
  std::int64_t const width = step > 0 ? step : -step;
  std::int64_t const ahead = step > 0 ? near - first : first - near;  // distance to the first index in `held`
  std::int64_t const last = step > 0 ? far - first : first - far;
  std::int64_t const begin = ahead <= 0 ? 0 : (ahead + width - 1) / width;
  std::int64_t const end = last < 0 ? 0 : last / width + 1;
  return intersect(range{begin, end < begin ? begin : end}, range{0, size});
}

/// The numbers j of a piece that come from one block of the operand and land in one block of the result.
[[nodiscard]] constexpr range common_steps(piece const& p, range held, range target) {
  return intersect(steps_within(held, p.from, p.from_step, p.size), steps_within(target, p.to, p.to_step, p.size));
}

/// The number of indices of a piece that move to another device if n blocks divide both axes.
[[nodiscard]] constexpr std::int64_t indices_moved(piece const& p, rearrangement const& r, std::int64_t n) {
  std::int64_t stay = 0;
  for (std::int64_t d = 0; d < n; ++d)
    stay += common_steps(p, block(r.extent[p.operand], d, n), block(r.result, d, n)).size();
  return p.size - stay;
}

/// The number of elements that the rearrangement moves, added over all devices. `s` is the sharding; the extent of its
/// label `along` in `e` is ignored.
[[nodiscard]] constexpr std::int64_t elements_moved(rearrangement const& r, spec const& s, int along,
                                                    extents const& e) {
  std::int64_t moved = 0;
  for (piece const& p : r.pieces) moved += indices_moved(p, r, e.ways(s.over[along]));
  for (int i = 0; i < s.rank; ++i) moved *= i == along ? 1 : e.label[s.label[i]];
  return moved * (e.devices() / e.ways(s.splits()));
}

}  // namespace ostraka::planner
