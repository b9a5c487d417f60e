// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. A matrix times a vector, two rows at once: each vector of x is read once for both, while a core that reads
/// one vector a cycle otherwise spends half of its reads on x. AVX-512 has registers for the sums of both. Each row is
/// summed in the order of sum_of_run, so that it has the same bits whichever row is its neighbour.

#include <cstdint>
#include <cstring>

#include <ostraka/engine/kernels/loops/lanes.hpp>

namespace ostraka::engine::detail {

/// The sums of two rows of T, float or double, each in `Sums` times 16 lanes: 4 for long rows, 1 for short ones.
template <class T, int Sums>
class two_rows {
  typedef T vector __attribute__((vector_size(64)));
  static constexpr int lanes = 16, in_vector = 64 / sizeof(T), of_lanes = lanes / in_vector;

  T const *a_, *b_, *x_;
  vector for_a_[Sums * of_lanes] = {}, for_b_[Sums * of_lanes] = {};

  /// Adds the products of `Vectors` vectors from r on. A product is a statement of its own, as in a term of sum_of_run:
  /// compilers that fuse multiplications and additions within a statement then fuse both or neither.
  template <int Vectors>
  [[gnu::always_inline]] void add(std::int64_t r) {
#pragma GCC unroll 16
    for (int k = 0; k < Vectors; ++k) {
      vector x, of_a, of_b;
      std::memcpy(&x, x_ + r + k * in_vector, sizeof x);
      std::memcpy(&of_a, a_ + r + k * in_vector, sizeof of_a);
      std::memcpy(&of_b, b_ + r + k * in_vector, sizeof of_b);
      of_a *= x;
      of_b *= x;
      for_a_[k] += of_a;
      for_b_[k] += of_b;
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
  [[gnu::always_inline]] two_rows(T const* a, T const* b, T const* x) : a_(a), b_(b), x_(x) {}

  /// sums[0] += sum over r < run of a[r] x[r], and sums[1] that of b[r] x[r]. Call it once.
  [[gnu::always_inline]] void add_to(T* sums, std::int64_t run) {
    std::int64_t r = 0;
    if constexpr (Sums == 4) {
      for (; r + 4 * lanes <= run; r += 4 * lanes) add<4 * of_lanes>(r);
      merge(for_a_);
      merge(for_b_);
    }
    for (; r + lanes <= run; r += lanes) add<of_lanes>(r);
    sums[0] += add_in_turn(total(for_a_), r, run, [a = a_, x = x_](std::int64_t k) { return a[k] * x[k]; });
    sums[1] += add_in_turn(total(for_b_), r, run, [b = b_, x = x_](std::int64_t k) { return b[k] * x[k]; });
  }
};

}  // namespace ostraka::engine::detail
