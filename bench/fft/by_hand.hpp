// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// A transform of n³ complex numbers in slabs, I_X before and J_X after, as a program writes it with FFTW and MPI:
/// planes by FFTW, one MPI_Alltoallw of subarrays, and rows along I by FFTW. Plans are measured.

#include <fftw3.h>
#include <mpi.h>

#include <cstddef>
#include <vector>

namespace bench {

class slabs_by_hand {
 public:
  /// @pre the number of ranks divides n
  slabs_by_hand(int n, int ranks)
      : before_(n / ranks, n, n),
        behind_(n, n / ranks, n),
        counts_(static_cast<std::size_t>(ranks), 1),
        zeros_(counts_.size()) {
    planes_ = plan(2, {n, n}, before_.data, before_.data, n / ranks, 1, n * n);
    rows_ = plan(1, {n}, behind_.data, behind_.data, n / ranks * n, n / ranks * n, 1);
    for (int r = 0; r < ranks; ++r) {
      out_.push_back(subarray(before_, 1, n / ranks, r * (n / ranks)));
      in_.push_back(subarray(behind_, 0, n / ranks, r * (n / ranks)));
    }
  }
  slabs_by_hand(slabs_by_hand const&) = delete;
  slabs_by_hand& operator=(slabs_by_hand const&) = delete;
  ~slabs_by_hand() {
    fftw_destroy_plan(planes_);
    fftw_destroy_plan(rows_);
    for (auto& types : {&out_, &in_})
      for (MPI_Datatype& t : *types) MPI_Type_free(&t);
  }

  /// Writes the transform of u to the result; u does not change.
  void run(fftw_complex const* u) {
    fftw_execute_dft(planes_, const_cast<fftw_complex*>(u), before_.data);
    MPI_Alltoallw(before_.data, counts_.data(), zeros_.data(), out_.data(), behind_.data, counts_.data(), zeros_.data(),
                  in_.data(), MPI_COMM_WORLD);
    fftw_execute_dft(rows_, behind_.data, behind_.data);
  }

  [[nodiscard]] fftw_complex const* result() const { return behind_.data; }

 private:
  struct block {
    block(int i, int j, int l)
        : extents{i, j, l}, data(fftw_alloc_complex(static_cast<std::size_t>(i) * static_cast<std::size_t>(j * l))) {}
    block(block const&) = delete;
    block& operator=(block const&) = delete;
    ~block() { fftw_free(data); }
    int extents[3];
    fftw_complex* data;
  };

  static fftw_plan plan(int rank, std::vector<int> n, fftw_complex* in, fftw_complex* out, int howmany, int stride,
                        int distance) {
    // Planes go from the caller's memory to ours, so their plan is out of place.
    fftw_complex* other =
        in == out && rank == 2 ? fftw_alloc_complex(static_cast<std::size_t>(howmany * distance)) : in;
    fftw_plan const made = fftw_plan_many_dft(rank, n.data(), howmany, other, nullptr, stride, distance, out, nullptr,
                                              stride, distance, FFTW_FORWARD, FFTW_MEASURE);
    if (other != in) fftw_free(other);
    return made;
  }

  static MPI_Datatype subarray(block const& b, int dimension, int extent, int begin) {
    int part[3] = {b.extents[0], b.extents[1], b.extents[2]}, first[3] = {0, 0, 0};
    part[dimension] = extent;
    first[dimension] = begin;
    MPI_Datatype made;
    MPI_Type_create_subarray(3, b.extents, part, first, MPI_ORDER_C, MPI_C_DOUBLE_COMPLEX, &made);
    MPI_Type_commit(&made);
    return made;
  }

  block before_, behind_;
  fftw_plan planes_, rows_;
  std::vector<int> counts_, zeros_;
  std::vector<MPI_Datatype> out_, in_;
};

}  // namespace bench
