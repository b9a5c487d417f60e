// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The tools of a programmer who calls MPI and BLAS by hand: matrix products, gathers and reductions, each in all of
/// the plain ways, over a communicator whose ranks hold equal parts. No way allocates when it runs, and none of them
/// calls the library.

#include <mpi.h>

#if OSTRAKA_ENABLE_CBLAS
#include <cblas.h>
#endif

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#ifndef PATTERNS_ELEMENT
#define PATTERNS_ELEMENT double
#endif

namespace by_hand {

/// The element type of the matrices: double, or float in the program patterns_float.
using element = PATTERNS_ELEMENT;

inline MPI_Datatype message_type() { return std::is_same_v<element, float> ? MPI_FLOAT : MPI_DOUBLE; }

/// One way to do the job. All ways to do one job write the same result.
struct way {
  std::string name;
  std::function<void()> run;
};

using ways = std::vector<way>;
using buffer = std::vector<element>;

/// A communicator, with this rank and its size.
struct group {
  MPI_Comm comm = MPI_COMM_SELF;
  int rank = 0;
  int size = 1;

  group() = default;
  explicit group(MPI_Comm of) : comm(of) {
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
  }
};

/// The number of elements of a matrix.
inline std::size_t area(int rows, int columns) {
  return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
}

/// C = A · B, or with beta 1 C += A · B; row-major, leading dimensions as given.
template <class T>
void gemm(int m, int n, int k, T const* a, int lda, T const* b, int ldb, int beta, T* c, int ldc) {
  T const onto = static_cast<T>(beta);
#if OSTRAKA_ENABLE_CBLAS
  if constexpr (std::is_same_v<T, float>)
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, a, lda, b, ldb, onto, c, ldc);
  else
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, a, lda, b, ldb, onto, c, ldc);
#else
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      T sum = 0;
      for (int l = 0; l < k; ++l)
        sum += a[area(i, lda) + static_cast<std::size_t>(l)] * b[area(l, ldb) + static_cast<std::size_t>(j)];
      T& to = c[area(i, ldc) + static_cast<std::size_t>(j)];
      to = beta == 0 ? sum : sum + onto * to;
    }
#endif
}

/// Copies rows × columns elements from one matrix into another.
inline void copy(int rows, int columns, element const* from, int from_leading, element* to, int to_leading) {
  for (int i = 0; i < rows; ++i)
    std::memcpy(to + area(i, to_leading), from + area(i, from_leading),
                sizeof(element) * static_cast<std::size_t>(columns));
}

inline void add(element* to, element const* what, int count) {
  for (int i = 0; i < count; ++i) to[i] += what[i];
}

/// Each rank sends each other rank `count` elements: from(d) holds those for rank d, and those of rank d arrive at
/// to(d).
class swap_of_parts {
 public:
  template <class From, class To>
  swap_of_parts(group const& g, int count, From const& from, To const& to)
      : g_(g), count_(count), requests_(static_cast<std::size_t>(2 * g.size)) {
    for (int d = 0; d < g.size; ++d) from_.push_back(from(d)), to_.push_back(to(d));
  }

  void run() {
    int n = 0;
    for (int step = 1; step < g_.size; ++step) {
      int const before = (g_.rank + g_.size - step) % g_.size;
      MPI_Irecv(to_[static_cast<std::size_t>(before)], count_, message_type(), before, 0, g_.comm,
                &requests_[static_cast<std::size_t>(n++)]);
    }
    for (int step = 1; step < g_.size; ++step) {
      int const after = (g_.rank + step) % g_.size;
      MPI_Isend(from_[static_cast<std::size_t>(after)], count_, message_type(), after, 0, g_.comm,
                &requests_[static_cast<std::size_t>(n++)]);
    }
    MPI_Waitall(n, requests_.data(), MPI_STATUSES_IGNORE);
  }

 private:
  group g_;
  int count_;
  std::vector<MPI_Request> requests_;
  std::vector<element const*> from_;
  std::vector<element*> to_;
};

/// The sum over the ranks of part `rank` of their `summand`, by pairs and in pieces that fit the cache: the next piece
/// is in flight while one is added.
class sum_in_pieces {
 public:
  sum_in_pieces(group const& g, element const* summand, element* result, int count)
      : g_(g),
        summand_(summand),
        result_(result),
        count_(count),
        piece_(std::min(count, 32 * 1024)),
        requests_{std::vector<MPI_Request>(static_cast<std::size_t>(2 * g.size)),
                  std::vector<MPI_Request>(static_cast<std::size_t>(2 * g.size))},
        arriving_{buffer(area(piece_, g.size)), buffer(area(piece_, g.size))} {}

  void run() {
    std::memcpy(result_, summand_ + area(g_.rank, count_), sizeof(element) * static_cast<std::size_t>(count_));
    start(0, 0);
    for (int begin = 0, turn = 0; begin < count_; begin += piece_, turn ^= 1) {
      start(begin + piece_, turn ^ 1);
      MPI_Waitall(2 * (g_.size - 1), requests_[turn].data(), MPI_STATUSES_IGNORE);
      for (int d = 0; d < g_.size; ++d)
        if (d != g_.rank) add(result_ + begin, arriving_[turn].data() + area(d, piece_), length(begin));
    }
  }

 private:
  int length(int begin) const { return std::min(piece_, count_ - begin); }

  void start(int begin, int turn) {
    if (begin >= count_) return;
    std::size_t n = 0;
    for (int step = 1; step < g_.size; ++step) {
      int const before = (g_.rank + g_.size - step) % g_.size;
      int const after = (g_.rank + step) % g_.size;
      MPI_Irecv(arriving_[turn].data() + area(before, piece_), length(begin), message_type(), before, 0, g_.comm,
                &requests_[turn][n++]);
      MPI_Isend(summand_ + area(after, count_) + begin, length(begin), message_type(), after, 0, g_.comm,
                &requests_[turn][n++]);
    }
  }

  group g_;
  element const* summand_;
  element* result_;
  int count_;
  int piece_;
  std::vector<MPI_Request> requests_[2];
  buffer arriving_[2];
};

}  // namespace by_hand
