// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// A step of the heat equation by hand with MPI: two padded blocks, and faces that are packed if they are columns. The
/// points that need no halo are computed while the messages are in flight, the other points afterwards.

#include <mpi.h>

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

namespace by_hand {

class heat {
 public:
  /// Blocks of rows × columns points in a grid of px × py ranks, row-major.
  heat(int rows, int columns, int px, int py, double r) : rows_(rows), columns_(columns), r_(r) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int const x = rank / py, y = rank % py;
    to_ = {x > 0 ? rank - py : MPI_PROC_NULL, x + 1 < px ? rank + py : MPI_PROC_NULL, y > 0 ? rank - 1 : MPI_PROC_NULL,
           y + 1 < py ? rank + 1 : MPI_PROC_NULL};
    for (auto* u : {&now_, &next_}) u->assign(static_cast<std::size_t>((rows + 2) * (columns + 2)), 1.0);
    for (auto& column : columns_packed_) column.assign(static_cast<std::size_t>(rows), 0.0);
  }

  void step() {
    int const width = columns_ + 2;
    double* const u = now_.data();
    auto const at = [&](int i, int j) { return u + i * width + j; };
    std::array<MPI_Request, 8> requests;
    MPI_Irecv(at(0, 1), columns_, MPI_DOUBLE, to_[0], 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(at(rows_ + 1, 1), columns_, MPI_DOUBLE, to_[1], 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Irecv(columns_packed_[2].data(), rows_, MPI_DOUBLE, to_[2], 0, MPI_COMM_WORLD, &requests[2]);
    MPI_Irecv(columns_packed_[3].data(), rows_, MPI_DOUBLE, to_[3], 0, MPI_COMM_WORLD, &requests[3]);
    MPI_Isend(at(1, 1), columns_, MPI_DOUBLE, to_[0], 0, MPI_COMM_WORLD, &requests[4]);
    MPI_Isend(at(rows_, 1), columns_, MPI_DOUBLE, to_[1], 0, MPI_COMM_WORLD, &requests[5]);
    for (int side = 0; side < 2; ++side) {
      auto const i = static_cast<std::size_t>(side);
      if (to_[i + 2] != MPI_PROC_NULL)
        for (int row = 0; row < rows_; ++row)
          columns_packed_[i][static_cast<std::size_t>(row)] = *at(row + 1, side == 0 ? 1 : columns_);
      MPI_Isend(columns_packed_[i].data(), rows_, MPI_DOUBLE, to_[i + 2], 0, MPI_COMM_WORLD, &requests[i + 6]);
    }
    bool const rows_wait = to_[0] != MPI_PROC_NULL || to_[1] != MPI_PROC_NULL;
    bool const columns_wait = to_[2] != MPI_PROC_NULL || to_[3] != MPI_PROC_NULL;
    int const i0 = rows_wait ? 2 : 1, i1 = rows_wait ? rows_ - 1 : rows_;
    int const j0 = columns_wait ? 2 : 1, j1 = columns_wait ? columns_ - 1 : columns_;
    compute(i0, i1, j0, j1);
    MPI_Waitall(8, requests.data(), MPI_STATUSES_IGNORE);
    for (int side = 0; side < 2; ++side)
      if (to_[static_cast<std::size_t>(side) + 2] != MPI_PROC_NULL)
        for (int row = 0; row < rows_; ++row)
          *at(row + 1, side == 0 ? 0 : columns_ + 1) =
              columns_packed_[static_cast<std::size_t>(side) + 2][static_cast<std::size_t>(row)];
    if (rows_wait) {
      compute(1, 1, 1, columns_);
      compute(rows_, rows_, 1, columns_);
    }
    if (columns_wait) {
      compute(i0, i1, 1, 1);
      compute(i0, i1, columns_, columns_);
    }
    std::swap(now_, next_);
  }

  [[nodiscard]] double middle() const { return now_[now_.size() / 2]; }

 private:
  void compute(int i0, int i1, int j0, int j1) {
    int const width = columns_ + 2;
    double const r = r_;
    for (int i = i0; i <= i1; ++i) {
      double const* const u = now_.data() + i * width;
      double* const v = next_.data() + i * width;
#pragma GCC ivdep
      for (int j = j0; j <= j1; ++j)
        v[j] = u[j] + r * (u[j - width] + u[j + width] + u[j - 1] + u[j + 1] - 4 * u[j]);
    }
  }

  int rows_, columns_;
  double r_;
  std::array<int, 4> to_;  // above, below, left, right
  std::vector<double> now_, next_;
  std::array<std::vector<double>, 4> columns_packed_;  // sent left and right, received from there
};

}  // namespace by_hand
