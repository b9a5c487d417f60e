// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Conjugate gradients for the seven-point operator by hand: Kokkos over the rows of a block, a vectorised loop along
/// each, MPI between blocks of planes. Whole planes are sent and received in place; the points that need no halo are
/// computed meanwhile; each pass does as many updates and sums as possible.

#include <mpi.h>
#include <Kokkos_Core.hpp>

#include <cstddef>

namespace by_hand {

class conjugate_gradients {
 public:
  using field = Kokkos::View<double***, Kokkos::LayoutRight, Kokkos::HostSpace>;

  /// A grid of planes × n × n points, the planes divided evenly over the ranks.
  conjugate_gradients(int planes, int n) : n_(n) {
    int rank = 0, ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    planes_ = planes / ranks;
    before_ = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    behind_ = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
    for (field* f : {&x_, &b_, &r_, &p_, &q_})
      *f = field("field", std::size_t(planes_ + 2), std::size_t(n + 2), std::size_t(n + 2));
  }

  field const& x() const { return x_; }
  field const& b() const { return b_; }

  void start() {
    double const* const b = b_.data();
    double *const x = x_.data(), *const r = r_.data(), *const p = p_.data();
    rr_ = over_rows(1, planes_, [=](int at, int n, double& sum) {
      double s = 0;
#pragma omp simd reduction(+ : s)
      for (int k = at; k < at + n; ++k) {
        x[k] = 0;
        r[k] = p[k] = b[k];
        s += b[k] * b[k];
      }
      sum += s;
    });
    rr_ = total(rr_);
  }

  void step() {
    double const pq = total(apply());
    double const alpha = rr_ / pq;
    double *const x = x_.data(), *const r = r_.data(), *const p = p_.data();
    double const* const q = q_.data();
    double const rr = total(over_rows(1, planes_, [=](int at, int n, double& sum) {
      double s = 0;
#pragma omp simd reduction(+ : s)
      for (int k = at; k < at + n; ++k) {
        x[k] += alpha * p[k];
        r[k] -= alpha * q[k];
        s += r[k] * r[k];
      }
      sum += s;
    }));
    double const beta = rr / rr_;
    rr_ = rr;
    int const rows = n_, width = n_ + 2;
    Kokkos::parallel_for("turn", Kokkos::RangePolicy<Kokkos::IndexType<int>>(0, planes_ * rows), [=](int row) {
      int const at = ((row / rows + 1) * width + row % rows + 1) * width + 1;
#pragma omp simd
      for (int k = at; k < at + rows; ++k) p[k] = r[k] + beta * p[k];
    });
  }

  double rr() const { return rr_; }

 private:
  // q = A p. Returns p·q on this rank.
  double apply() {
    int const plane = (n_ + 2) * (n_ + 2);
    double* const p = p_.data();
    double* const q = q_.data();
    MPI_Request requests[4];
    MPI_Irecv(p, plane, MPI_DOUBLE, before_, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(p + (planes_ + 1) * plane, plane, MPI_DOUBLE, behind_, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(p + plane, plane, MPI_DOUBLE, before_, 0, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(p + planes_ * plane, plane, MPI_DOUBLE, behind_, 0, MPI_COMM_WORLD, &requests[3]);
    int const width = n_ + 2;
    auto const rows = [=](int at, int n, double& sum) {
      double s = 0;
#pragma omp simd reduction(+ : s)
      for (int k = at; k < at + n; ++k) {
        q[k] = 6 * p[k] - p[k - plane] - p[k + plane] - p[k - width] - p[k + width] - p[k - 1] - p[k + 1];
        s += q[k] * p[k];
      }
      sum += s;
    };
    int const first = before_ == MPI_PROC_NULL ? 1 : 2, last = behind_ == MPI_PROC_NULL ? planes_ : planes_ - 1;
    double sum = over_rows(first, last, rows);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    if (first == 2) sum += over_rows(1, 1, rows);
    if (last == planes_ - 1) sum += over_rows(planes_, planes_, rows);
    return sum;
  }

  // Calls f(place of the first point, points, sum) for each row of these planes.
  template <class F>
  double over_rows(int first, int last, F const& f) const {
    int const rows = n_, width = n_ + 2;
    double sum = 0;
    Kokkos::parallel_reduce(
        "rows", Kokkos::RangePolicy<Kokkos::IndexType<int>>(0, (last - first + 1) * rows),
        [=](int row, double& s) { f(((row / rows + first) * width + row % rows + 1) * width + 1, rows, s); }, sum);
    return sum;
  }
  static double total(double mine) {
    double sum = 0;
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
  }

  int n_, planes_, before_, behind_;
  field x_, b_, r_, p_, q_;
  double rr_ = 0;
};

}  // namespace by_hand
