// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. A cache of MPI types of strided blocks. Making a type takes a tenth of the time of the shortest message
/// sent with it, and loops send the same blocks again.

#include <ostraka/engine/machine/mpi.hpp>

#if OSTRAKA_ENABLE_MPI

#  include <algorithm>
#  include <cstddef>
#  include <cstdint>

#  include <ostraka/engine/kernels/loops/loop_nest.hpp>
#  include <ostraka/engine/machine/job_of_mpi.hpp>
#  include <ostraka/types/support/recent_entries.hpp>

namespace ostraka::engine {

/// The types that a group used last.
class block_types {
 public:
  block_types() = default;
  block_types(block_types const&) = delete;
  block_types& operator=(block_types const&) = delete;
  ~block_types() {
    if (!mpi_has_ended())
      for (entry& e : kept_) MPI_Type_free(&e.type);
  }

  /// Returns the type of a block whose elements have `bytes` bytes and travel in the order of its dimensions. Messages
  /// may begin with it until the next call of this function. @pre no extent is 0
  MPI_Datatype of(strided const& block, MPI_Datatype element, MPI_Aint bytes) {
    for (entry const& e : kept_)
      if (e.element == element && alike(e.block, block)) return e.type;
    return make(block, element, bytes);
  }

 private:
  struct entry {
    strided block;
    MPI_Datatype element;
    MPI_Datatype type;
  };

  static bool alike(strided const& a, strided const& b) {
    return a.rank == b.rank && std::equal(a.extent, a.extent + a.rank, b.extent) &&
           std::equal(a.stride, a.stride + a.rank, b.stride);
  }

  [[gnu::cold, gnu::noinline]] MPI_Datatype make(strided const& block, MPI_Datatype element, MPI_Aint bytes) {
    // The oldest is freed once the messages begun with it have arrived.
    entry const made{block, element, committed(block, element, bytes)};
    return kept_.add(made, [](entry& oldest) { MPI_Type_free(&oldest.type); }).type;
  }

  static MPI_Datatype committed(strided const& block, MPI_Datatype element, MPI_Aint bytes) {
    loop_nest<1> loops = loops_along(block);
    loops.merge();
    int d = loops.rank - 1;
    auto const extent = [&](int i) { return static_cast<int>(loops.extent[i]); };
    auto const apart = [&](int i) { return static_cast<MPI_Aint>(loops.stride[0][i]) * bytes; };
    int const row = d >= 0 && loops.stride[0][d] == 1 ? extent(d--) : 1;
    MPI_Datatype type;
    if (d >= 0)
      MPI_Type_create_hvector(extent(d), row, apart(d), element, &type);
    else
      MPI_Type_contiguous(row, element, &type);
    while (--d >= 0) {
      MPI_Datatype inner = type;
      MPI_Type_create_hvector(extent(d), 1, apart(d), inner, &type);
      MPI_Type_free(&inner);
    }
    MPI_Type_commit(&type);
    return type;
  }

  recent_entries<entry, 8> kept_;
};

}  // namespace ostraka::engine

#endif
