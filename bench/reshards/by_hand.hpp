// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// A reshard by hand with MPI: one MPI_Alltoallw, with a type for the common part of each pair of blocks. Elements are
/// sent in the order of the source's axes. Where the target has another order, the types of the receives transpose.

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench {

/// A block of complex numbers: for each axis, in an order that all blocks share, its place in the block and the range
/// of its indices.
struct block {
  struct dimension {
    int place;
    std::int64_t begin, end;
  };
  std::vector<dimension> dimensions;

  /// The stride of an axis in the block's memory.
  [[nodiscard]] std::int64_t stride(std::size_t axis) const {
    std::int64_t n = 1;
    for (dimension const& d : dimensions)
      if (d.place > dimensions[axis].place) n *= d.end - d.begin;
    return n;
  }
};

class blocks_by_hand {
 public:
  /// Collective: the ranks tell each other their blocks.
  blocks_by_hand(block const& from, block const& to) {
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    std::vector<block> const sources = of_all(from, ranks), targets = of_all(to, ranks);
    for (int r = 0; r < ranks; ++r) {
      add(from, targets[static_cast<std::size_t>(r)], sent_);
      add(to, sources[static_cast<std::size_t>(r)], received_);
    }
  }
  blocks_by_hand(blocks_by_hand const&) = delete;
  blocks_by_hand& operator=(blocks_by_hand const&) = delete;
  ~blocks_by_hand() {
    for (side* s : {&sent_, &received_})
      for (MPI_Datatype& t : s->types) MPI_Type_free(&t);
  }

  void run(void const* from, void* to) {
    MPI_Alltoallw(from, sent_.counts.data(), sent_.places.data(), sent_.types.data(), to, received_.counts.data(),
                  received_.places.data(), received_.types.data(), MPI_COMM_WORLD);
  }

 private:
  struct side {
    std::vector<int> counts, places;
    std::vector<MPI_Datatype> types;
  };

  static std::vector<block> of_all(block const& mine, int ranks) {
    std::size_t const size = mine.dimensions.size();
    std::vector<block::dimension> all(size * static_cast<std::size_t>(ranks));
    int const bytes = static_cast<int>(size * sizeof(block::dimension));
    MPI_Allgather(mine.dimensions.data(), bytes, MPI_BYTE, all.data(), bytes, MPI_BYTE, MPI_COMM_WORLD);
    std::vector<block> blocks;
    for (auto at = all.begin(); at != all.end(); at += static_cast<std::ptrdiff_t>(size))
      blocks.push_back({{at, at + static_cast<std::ptrdiff_t>(size)}});
    return blocks;
  }

  // Adds the part of `mine` that the other block has as well.
  static void add(block const& mine, block const& other, side& s) {
    std::vector<std::int64_t> extents, strides;
    std::int64_t first = 0, elements = 1;
    for (std::size_t a = 0; a < mine.dimensions.size(); ++a) {
      std::int64_t const begin = std::max(mine.dimensions[a].begin, other.dimensions[a].begin);
      std::int64_t const end = std::min(mine.dimensions[a].end, other.dimensions[a].end);
      extents.push_back(std::max<std::int64_t>(0, end - begin));
      strides.push_back(mine.stride(a));
      first += (begin - mine.dimensions[a].begin) * strides.back();
      elements *= extents.back();
    }
    constexpr int bytes = 2 * sizeof(double);
    s.counts.push_back(elements > 0 ? 1 : 0);
    s.places.push_back(elements > 0 ? static_cast<int>(first) * bytes : 0);
    s.types.push_back(in_order(mine) ? subarray(mine, other) : nested(extents, strides, bytes));
  }

  static bool in_order(block const& b) {
    for (std::size_t a = 0; a < b.dimensions.size(); ++a)
      if (b.dimensions[a].place != static_cast<int>(a)) return false;
    return true;
  }

  // The common part as a subarray that begins at its first element.
  static MPI_Datatype subarray(block const& mine, block const& other) {
    std::vector<int> whole, part, zeros(mine.dimensions.size(), 0);
    bool empty = false;
    for (std::size_t a = 0; a < mine.dimensions.size(); ++a) {
      block::dimension const& d = mine.dimensions[a];
      whole.push_back(static_cast<int>(d.end - d.begin));
      std::int64_t const end = std::min(d.end, other.dimensions[a].end);
      part.push_back(static_cast<int>(end - std::max(d.begin, other.dimensions[a].begin)));
      empty = empty || part.back() <= 0;
    }
    MPI_Datatype made;
    if (empty)
      MPI_Type_dup(MPI_C_DOUBLE_COMPLEX, &made);
    else
      MPI_Type_create_subarray(static_cast<int>(whole.size()), whole.data(), part.data(), zeros.data(), MPI_ORDER_C,
                               MPI_C_DOUBLE_COMPLEX, &made);
    MPI_Type_commit(&made);
    return made;
  }

  // The elements in the order of the axes, whatever their order in memory.
  static MPI_Datatype nested(std::vector<std::int64_t> const& extents, std::vector<std::int64_t> const& strides,
                             int bytes) {
    MPI_Datatype made;
    MPI_Type_dup(MPI_C_DOUBLE_COMPLEX, &made);
    for (std::size_t a = extents.size(); a-- > 0;) {
      MPI_Datatype inner = made;
      MPI_Type_create_hvector(static_cast<int>(extents[a]), 1, static_cast<MPI_Aint>(strides[a]) * bytes, inner, &made);
      MPI_Type_free(&inner);
    }
    MPI_Type_commit(&made);
    return made;
  }

  side sent_, received_;
};

}  // namespace bench
