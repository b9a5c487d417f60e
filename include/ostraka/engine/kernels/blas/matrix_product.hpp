// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The request to a library of matrix products, whichever it is: C <- alpha A B + beta C, once or for a batch
/// of matrices at equal distances. A backend is a file of this room with a struct like no_library that states the
/// products it supports and computes them, and a specialisation of library_of_space for its execution spaces.

#include <cstdint>

namespace ostraka::engine {

/// A matrix as a library sees it: one of its two strides is 1, the other is the leading dimension.
struct matrix_view {
  bool transposed = false;  ///< with respect to the storage order of the product
  std::int64_t leading = 1;
  friend bool operator==(matrix_view const&, matrix_view const&) = default;
};

/// C[m, n] <- alpha A[m, k] B[k, n] + beta C[m, n], `batch` times. All three are stored by rows, or all by columns; A
/// and B the other way if they are transposed.
struct matrix_product {
  bool by_rows = true;
  std::int64_t m = 1, n = 1, k = 1;
  matrix_view a, b;
  std::int64_t c_leading = 1;
  std::int64_t batch = 1;
  std::int64_t step[3] = {0, 0, 0};  ///< of A, B, C: elements from one matrix of the batch to the next; 0 repeats it
  friend bool operator==(matrix_product const&, matrix_product const&) = default;
};

/// No library, with the members that a backend has.
struct no_library {
  /// True if it multiplies matrices of T.
  template <class T>
  static constexpr bool multiplies = false;

  /// The largest extent or leading dimension that it takes.
  static std::int64_t limit() { return 0; }

  // template <class Exec, class T>
  // static void multiply(Exec const&, matrix_product const&, T const* a, T const* b, update<T> const& how, T* c);
  //     The products, in the order in which work was started on the instance; they need not have ended on return. With
  //     beta = 0, C is not read. alpha and beta are accumulator_of_t<T>: sums of elements of 16 bits have 32.
};

template <class Exec, class = void>
struct library_of_space {
  using type = no_library;
};

/// The library that multiplies for an execution space.
template <class Exec>
using library_of = typename library_of_space<Exec>::type;

}  // namespace ostraka::engine
