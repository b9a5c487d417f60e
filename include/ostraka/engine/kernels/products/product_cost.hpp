// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. What a product of matrices costs in the library and in our kernels, and what it costs to move its operands:
/// how often each thing is done, times the nanoseconds that it takes. C[m, n] += A[m, k] B[k, n] takes a time linear in
/// 1, m n k, m n, m k and k n.

#include <algorithm>
#include <cstdint>

#include <Kokkos_Core.hpp>

namespace ostraka::engine::detail {

/// What is counted. Elements count as doubles: half as much where they are floats.
enum class cost {
  call,              // of the library
  multiply_add,
  slow_pair,         // a multiplication in small products whose operands both have their lines along k
  result,            // an element of C in the library, read and written
  left,              // an element of A, laid out by the library
  right,
  by_vector,         // a multiplication of a matrix by a vector
  short_row,         // a row of C that fills no vector register
  far_row,           // a row of an operand used where it lies, of less than a page and a page or more from the next
  setting_up,        // tables of offsets, scratch
  moved,             // an element gathered into a panel, or out of it, in runs
  moved_alone,       // and one by one
  copied,            // an element copied whole into another layout, in runs
  turned,            // and one by one, in squares filled up
  near_line,         // a cache line of which one element is used, of an operand that the second cache holds
  far_line,          // and of a larger one
  far_byte,          // read or written of an operand that the second cache does not hold
  lone_far_byte,     // of a matrix that meets a vector: nothing else takes time meanwhile
  our_call,
  our_task,          // a product of the batch
  our_tile,          // a register tile brought into its place
  our_multiply_add,  // with the padding of tiles
  our_packed,        // an element packed in runs
  our_packed_alone,  // and one by one
  our_result,        // an element of C written in runs
  our_result_alone,  // and one by one
  our_lost_line,     // an element packed, or written, whose neighbours in memory are those of other products
  our_folded,        // a multiplication of a block by a vector
  our_lane,          // a multiplication in a lane of the batch
  our_lane_element,  // an element of A, B or C there
  count
};

inline constexpr int cost_count = static_cast<int>(cost::count);

/// From 6400 timings of ways to do the cases of bench/contractions and 170 random ones (`ways=1 random=170
/// counts=FILE`, fit.py), on one core of a server of 2.6 GHz with OpenBLAS 0.3.21 (SkylakeX): least squares of relative
/// errors, then each changed as long as better ways were chosen; by_vector, our_folded and those of lanes by hand;
/// result, right, turned and those of our tiles again when the tiles had changed, last from 3700 timings. Ratios are
/// what matters, and those near the border only.
inline constexpr double nanoseconds_of[cost_count] = {
    20.6,  0.0302, 0.0128, 0.0399, 0.108, 0.0601, 0.19,  0.724, 1.46,  189,   0.486, 0.943, 0.406, 0.307, 0.0214,
    0.761, 0.0142, 0.0405, 386,    20.3,  21.1,   0.024, 0.265, 0.464, 0.233, 0.435, 0.402, 0.3,   0.06,  0.15};

/// Small products of this size and below the library does less well where both operands have their lines along k.
inline constexpr std::int64_t small_product = 1000000;

/// Of the time of a multiplication, in these: the library has kernels of their own for them.
inline constexpr double in_small_product = 0.75;

/// What stays in a core's second cache.
inline constexpr double near_bytes = 1 << 20;

/// How often each thing is done.
struct cost_counts {
  double of[cost_count] = {};

  void add(cost what, double count) { of[static_cast<int>(what)] += count; }
  double nanoseconds() const {
    double sum = 0;
    for (int i = 0; i < cost_count; ++i) sum += of[i] * nanoseconds_of[i];
    return sum;
  }
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

/// So many products of the library; `row` is the extent of C that is contiguous.
template <class T>
void count_products(cost_counts& counts, double products, matrix_extents e, double row) {
  counts.add(cost::call, products);
  double const small = e.m * e.n * e.k <= static_cast<double>(small_product) ? in_small_product : 1;
  counts.add(cost::multiply_add, small * work_factor<T> * products * e.m * e.n * e.k);
  counts.add(cost::result, size_factor<T> * products * e.m * e.n);
  counts.add(cost::left, size_factor<T> * products * e.m * e.k);
  counts.add(cost::right, size_factor<T> * products * e.k * e.n);
  if (e.m == 1 || e.n == 1) counts.add(cost::by_vector, work_factor<T> * products * e.m * e.n * e.k);
  if (row < 8) counts.add(cost::short_row, products * e.m * e.n / row);
}

/// So many elements of an operand of so many, read or written one after the other; `lone`: for a product by a vector.
template <class T>
void count_stream(cost_counts& counts, double elements, double of_operand, bool lone) {
  double const size = static_cast<double>(sizeof(T));
  if (of_operand * size > near_bytes) counts.add(lone ? cost::lone_far_byte : cost::far_byte, elements * size);
}

}  // namespace ostraka::engine::detail
