// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The bytes of a device's block in a file. The file stores A[I_X, J_Y] whole, so a block is rows with gaps
/// between them. Long blocks are cut into pieces that each fit one call.

#include <algorithm>
#include <cstdint>

#include <ostraka/engine/kernels/loops/loop_nest.hpp>
#include <ostraka/plan/blocks/box.hpp>

namespace ostraka::engine {

/// Bytes of a file with gaps between them, contiguous in memory.
struct file_piece {
  std::int64_t at = 0;  ///< the first of them in the file
  strided lies;         ///< the layout from there on, in bytes
  char* memory = nullptr;

  [[nodiscard]] std::int64_t bytes() const { return lies.size(); }
};

/// Calls f(piece) for the pieces of a block, in the order of the file and of memory. `at`: the position of the tensor
/// in the file; `strides`: elements between neighbours there, the largest first; `longest`: the largest number of bytes
/// in a piece.
template <class F>
void cut_block(planner::box const& block, std::int64_t const* strides, int element_bytes, std::int64_t at, char* memory,
               std::int64_t longest, F const& f) {
  if (block.size() == 0) return;
  int const rank = block.rank;
  std::int64_t stride[planner::max_labels + 1]{}, inner[planner::max_labels + 1];  // bytes: in the file, in memory
  inner[rank] = element_bytes;
  for (int d = rank - 1; d >= 0; --d) {
    stride[d] = strides[d] * element_bytes;
    inner[d] = inner[d + 1] * block.at[d].size();
    at += block.at[d].begin * stride[d];
  }
  int cut = 0;  // the dimension that is cut; loops run over those before it
  while (cut < rank && inner[cut + 1] > longest) ++cut;
  if (cut == rank) --cut;
  std::int64_t const part = rank == 0 ? 1 : std::max<std::int64_t>(1, longest / inner[cut + 1]);
  std::int64_t const along = rank == 0 ? 1 : block.at[cut].size();
  std::int64_t index[planner::max_labels + 1]{};
  for (bool more = true; more;) {
    std::int64_t begin = at;
    for (int d = 0; d < cut; ++d) begin += index[d] * stride[d];
    for (std::int64_t i = 0; i < along; i += part) {
      file_piece p;
      std::int64_t const n = std::min(part, along - i);
      p.at = begin + (rank == 0 ? 0 : i * stride[cut]);
      for (int d = std::max(cut, 0); d < rank; ++d) p.lies.add(d == cut ? n : block.at[d].size(), stride[d]);
      p.lies.add(element_bytes, 1);
      p.memory = memory;
      memory += p.bytes();
      f(p);
    }
    more = false;
    for (int d = cut - 1; d >= 0 && !more; --d) {
      more = ++index[d] < block.at[d].size();
      if (!more) index[d] = 0;
    }
  }
}

}  // namespace ostraka::engine
