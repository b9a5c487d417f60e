// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. A matrix times a vector, two or four rows at once. Each vector of x is read once for all these rows;
/// otherwise a core that reads one vector per cycle would spend half of its reads on x. Four long rows keep more reads
/// from the second cache in flight than two, which outweighs that AVX-512 is one register short for their sums. Each
/// row is summed in the order of sum_of_run, so that its bits do not depend on the neighbouring rows.

#include <cstdint>
#include <cstring>

#include <ostraka/engine/kernels/loops/lanes.hpp>

namespace ostraka::engine::detail {

/// The sums of rows of T, float or double, each in `Sums` times 16 lanes: 4 for long rows, 1 for short ones.
template <class T, int Sums, int Rows>
class rows_at_once {
  typedef T vector __attribute__((vector_size(64)));
  static constexpr int lanes = 16, in_vector = 64 / sizeof(T), of_lanes = lanes / in_vector;

  T const *first_, *x_;
  std::int64_t next_;
  vector sum_[Rows][Sums * of_lanes] = {};

  /// Adds the products of `Vectors` vectors from r on. Each product is a separate statement, as in sum_of_run, so that
  /// compilers that fuse multiplications and additions within a statement fuse in both functions or in neither.
  template <int Vectors>
  [[gnu::always_inline]] void add(std::int64_t r) {
#pragma GCC unroll 16
    for (int k = 0; k < Vectors; ++k) {
      vector x;
      std::memcpy(&x, x_ + r + k * in_vector, sizeof x);
#pragma GCC unroll 16
      for (int i = 0; i < Rows; ++i) {
        vector of_row;
        std::memcpy(&of_row, first_ + i * next_ + r + k * in_vector, sizeof of_row);
        of_row *= x;
        sum_[i][k] += of_row;
      }
    }
  }

  /// Adds the four sums of each lane.
  [[gnu::always_inline]] static void merge(vector* sums) {
#pragma GCC unroll 16
    for (int k = 0; k < of_lanes; ++k) sums[k] += sums[of_lanes + k] + sums[2 * of_lanes + k] + sums[3 * of_lanes + k];
  }

  [[gnu::always_inline]] static T total(vector const* sums) {
    T side[lanes];
    std::memcpy(side, sums, sizeof side);
    return sum_of_lanes<lanes>(side);
  }

 public:
  /// Takes rows whose begins are `next` elements apart.
  [[gnu::always_inline]] rows_at_once(T const* first, std::int64_t next, T const* x)
      : first_(first), x_(x), next_(next) {}

  /// sums[i] += sum over r < run of first[i next + r] x[r], i < Rows. Call it once.
  [[gnu::always_inline]] void add_to(T* sums, std::int64_t run) {
    std::int64_t r = 0;
    if constexpr (Sums == 4) {
      for (; r + 4 * lanes <= run; r += 4 * lanes) add<4 * of_lanes>(r);
#pragma GCC unroll 16
      for (int i = 0; i < Rows; ++i) merge(sum_[i]);
    }
    for (; r + lanes <= run; r += lanes) add<of_lanes>(r);
    T sum[Rows];
    auto const term = [this](int i, std::int64_t k) { return first_[i * next_ + k] * x_[k]; };
#pragma GCC unroll 16
    for (int i = 0; i < Rows; ++i) sum[i] = total(sum_[i]);
    for (; r < run; ++r) {
#pragma GCC unroll 16
      for (int i = 0; i < Rows; ++i) sum[i] += term(i, r);
      asm("" : "+r"(r));  // as in add_in_turn
    }
#pragma GCC unroll 16
    for (int i = 0; i < Rows; ++i) sums[i] += sum[i];
  }
};

}  // namespace ostraka::engine::detail
