// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Two products next to a move, by hand with MPI and CBLAS: C[I_X, K] = A[I_X, J] · B[J_X, K], where B is gathered, and
/// C[I_X, K] = A[I, J_X] · B[J_X, K], where summands are scattered. Each has three forms: blocking; a ring that starts
/// messages before a product and waits for them after it; and a ring whose product runs in slabs with MPI_Testall
/// between them. The matrices are square, of doubles; the extent is a multiple of the ranks.

#include <mpi.h>

#if OSTRAKA_ENABLE_CBLAS
#include <cblas.h>
#endif

#include <algorithm>
#include <cstddef>

#include "block.hpp"

namespace by_hand {

/// This rank's place in the ring, and the extent of the matrices.
struct ring {
  MPI_Comm comm = MPI_COMM_WORLD;
  int rank = 0;
  int size = 1;
  int extent = 0;  ///< of each label

  explicit ring(int n) : extent(n) {
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
  }

  [[nodiscard]] int part() const { return extent / size; }
  [[nodiscard]] std::size_t elements() const {
    return static_cast<std::size_t>(part()) * static_cast<std::size_t>(extent);
  }
  [[nodiscard]] int next() const { return (rank + 1) % size; }
  [[nodiscard]] int before() const { return (rank + size - 1) % size; }
  /// The part on this rank after so many steps: it began at the member that many places before this one.
  [[nodiscard]] int part_after(int steps) const { return (rank + size * 2 - steps) % size; }
};

using buffer = bench::block<double>;

/// Messages in flight; `test` lets MPI progress them.
class messages {
 public:
  void pass_on(ring const& r, double const* sent, double* received, std::size_t count) {
    MPI_Irecv(received, static_cast<int>(count), MPI_DOUBLE, r.before(), 0, r.comm, &requests_[0]);
    MPI_Isend(sent, static_cast<int>(count), MPI_DOUBLE, r.next(), 0, r.comm, &requests_[1]);
  }
  void test() {
    int done = 0;
    MPI_Testall(2, requests_, &done, MPI_STATUSES_IGNORE);
  }
  void wait() { MPI_Waitall(2, requests_, MPI_STATUSES_IGNORE); }

 private:
  MPI_Request requests_[2]{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
};

/// C (rows × columns) <- A (rows × inner) B (inner × columns) + beta C, row-major, with these strides of rows: in
/// `slabs` slabs of rows, with a call of `between` after each but the last.
template <class Between>
void multiply(int rows, int columns, int inner, double const* a, int a_row, double const* b, int b_row, double beta,
              double* c, int c_row, int slabs, Between const& between) {
  for (int s = 0; s < slabs; ++s) {
    int const begin = rows * s / slabs;
    int const end = rows * (s + 1) / slabs;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, end - begin, columns, inner, 1.0,
                a + std::ptrdiff_t(begin) * a_row, a_row, b, b_row, beta, c + std::ptrdiff_t(begin) * c_row, c_row);
    if (s + 1 < slabs) between();
  }
}

/// C[I_X, K] = A[I_X, J] · B[J_X, K].
struct gather_product {
  ring r;
  buffer a, b, c, whole, passed[2];

  explicit gather_product(int n) : r(n), a(r.elements()), b(r.elements()), c(r.elements()) {
    whole.resize(r.elements() * static_cast<std::size_t>(r.size));
    for (buffer& p : passed) p.resize(r.elements());
  }

  void move() {
    int const count = static_cast<int>(r.elements());
    MPI_Allgather(b.data(), count, MPI_DOUBLE, whole.data(), count, MPI_DOUBLE, r.comm);
  }
  void compute() {
    multiply(r.part(), r.extent, r.extent, a.data(), r.extent, whole.data(), r.extent, 0, c.data(), r.extent, 1, [] {});
  }
  void blocking() {
    move();
    compute();
  }
  // Parts circulate in pieces, one message at a time. While one is in flight, the rank multiplies as many of its pieces
  // as keep pace with the messages.
  void in_a_ring(int pieces, int slabs) {
    int const rows = r.part() / pieces;
    std::size_t const piece = static_cast<std::size_t>(rows) * static_cast<std::size_t>(r.extent);
    int const all = r.size * pieces;
    int const to_come = all - pieces;
    auto const at = [&](int p) {
      double* const part = p < pieces ? b.data() : passed[p / pieces % 2].data();
      return part + static_cast<std::size_t>(p % pieces) * piece;
    };
    messages under_way;
    int done = 0;
    auto const multiply_until = [&](int end) {
      for (; done < end; ++done)
        multiply(r.part(), r.extent, rows, a.data() + r.part_after(done / pieces) * r.part() + done % pieces * rows,
                 r.extent, at(done), r.extent, done > 0 ? 1 : 0, c.data(), r.extent, slabs,
                 [&] { under_way.test(); });
    };
    for (int m = 0; m < to_come; ++m) {
      under_way.pass_on(r, at(m), at(m + pieces), piece);
      multiply_until(std::min((m + 1) * all / to_come, m + pieces));
      under_way.wait();
    }
    multiply_until(all);
  }
};

/// C[I_X, K] = A[I, J_X] · B[J_X, K].
struct scatter_product {
  ring r;
  buffer a, b, c, whole, passed[2];

  explicit scatter_product(int n) : r(n), a(r.elements()), b(r.elements()), c(r.elements()) {
    whole.resize(r.elements() * static_cast<std::size_t>(r.size));
    for (buffer& p : passed) p.resize(r.elements());
  }

  void move() {
    MPI_Reduce_scatter_block(whole.data(), c.data(), static_cast<int>(r.elements()), MPI_DOUBLE, MPI_SUM, r.comm);
  }
  void compute() {
    multiply(r.extent, r.extent, r.part(), a.data(), r.part(), b.data(), r.extent, 0, whole.data(), r.extent, 1, [] {});
  }
  void blocking() {
    compute();
    move();
  }
  // Sums circulate in pieces, one message at a time: while one is in flight, products are added to the sums that have
  // arrived.
  void in_a_ring(int pieces, int slabs) {
    int const rows = r.part() / pieces;
    std::size_t const piece = static_cast<std::size_t>(rows) * static_cast<std::size_t>(r.extent);
    int const all = r.size * pieces;
    int const to_come = all - pieces;
    auto const at = [&](int p) {
      double* const part = p < to_come ? passed[p / pieces % 2].data() : c.data();
      return part + static_cast<std::size_t>(p % pieces) * piece;
    };
    messages under_way;
    int done = 0;
    auto const multiply_until = [&](int end) {
      for (; done < end; ++done)
        multiply(
            rows, r.extent, r.part(),
            a.data() + std::ptrdiff_t(r.part_after(done / pieces + 1) * r.part() + done % pieces * rows) * r.part(),
            r.part(), b.data(), r.extent, done < pieces ? 0 : 1, at(done), r.extent, slabs, [&] { under_way.test(); });
    };
    for (int m = 0; m < to_come; ++m) {
      multiply_until(m + 1);
      under_way.pass_on(r, at(m), at(m + pieces), piece);
      multiply_until(std::min((m + 1) * all / to_come + 1, m + pieces));
      under_way.wait();
    }
    multiply_until(all);
  }
};

}  // namespace by_hand
