// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. What a product of matrices costs in the library and in our kernels, and what it costs to move its operands: estimates in nanoseconds.
/// C[m, n] += A[m, k] B[k, n] takes a time linear in 1, m n k, m n, m k and k n.

#include <algorithm>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include <ostraka/engine/contraction_labels.hpp>

namespace ostraka::engine::detail {

/// Nanoseconds for double. The first five began as least squares over the 725 products with m, n, k in {1, 2, 4, 8, 16, 32, 64, 192, 768} by OpenBLAS
/// 0.3.21 (SkylakeX) on one core of a server of 2.6 GHz (18.7, 0.025, 0.11, 0.10, 0.04), then a call and a multiplication were raised by hand; all
/// others are set by hand from single timings. Ratios are what matters, and those near the border only.
struct product_costs {
  static constexpr double call = 25;
  static constexpr double multiply_add = 0.031;
  static constexpr double result = 0.11;        // an element of C, read and written
  static constexpr double left = 0.10;          // an element of A, laid out by the library
  static constexpr double right = 0.04;
  static constexpr double short_row = 7;        // a row of C that fills no vector register
  static constexpr double slow_pair = 1.3;      // of small products whose operands both have their lines along k
  static constexpr std::int64_t small_product = 1000000;
  static constexpr double moved = 0.6;          // an element gathered into a panel, or out of it, in runs
  static constexpr double moved_alone = 0.8;    // and one by one
  static constexpr double copied = 1.3;         // an element copied whole into another layout
  static constexpr double near_bytes = 1 << 20;
  static constexpr double near_line = 2;        // a cache line of which one element is used, of an operand of so many bytes
  static constexpr double far_line = 12;        // and of a larger one
  static constexpr double setting_up = 150;     // tables of offsets, scratch
  static constexpr double our_call = 250;
  static constexpr double our_product = 100;    // each of a batch
  static constexpr double our_multiply_add = 0.4;
};

/// How an element type relates to double: bytes to move, multiplications to do.
template <class T>
inline constexpr double size_factor = static_cast<double>(sizeof(T)) / 8;
template <class T>
inline constexpr double work_factor = size_factor<T>;
template <class R>
inline constexpr double work_factor<Kokkos::complex<R>> = 4 * size_factor<R>;

struct matrix_extents {
  double m, n, k;
};

/// One product; `row` is the extent of C that is contiguous.
template <class T>
double cost_of_product(matrix_extents e, double row) {
  using costs = product_costs;
  double const rows = e.m * e.n / row;
  double const moves = costs::result * e.m * e.n + costs::left * e.m * e.k + costs::right * e.k * e.n;
  return costs::call + work_factor<T> * costs::multiply_add * e.m * e.n * e.k + size_factor<T> * moves + (row < 8 ? costs::short_row * rows : 0);
}

/// The whole contraction by our own kernels.
template <class T>
double cost_of_our_kernels(product_loops const& loops) {
  double const products = static_cast<double>(loops.batch.size());
  double const multiply_adds_each = static_cast<double>(loops.m.size() * loops.n.size() * loops.k.size());
  return product_costs::our_call + products * (product_costs::our_product + work_factor<T> * product_costs::our_multiply_add * multiply_adds_each);
}

}  // namespace ostraka::engine::detail
