// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The request to any library of matrix products: C <- alpha A B + beta C, once or for a batch of equidistant
/// matrices. A backend is a file in this folder with a struct like no_library, which states the products it supports
/// and computes them, and a specialisation of library_of_space for its execution spaces.

#include <cstdint>

namespace ostraka::engine {

/// A matrix in the form that libraries take: one of its strides is 1, the other is the leading dimension.
struct matrix_view {
  bool transposed = false;  ///< relative to the storage order of the product
  std::int64_t leading = 1;
  friend bool operator==(matrix_view const&, matrix_view const&) = default;
};

/// C[m, n] <- alpha A[m, k] B[k, n] + beta C[m, n], `batch` times. All three are stored by rows, or all by columns; A
/// and B in the opposite order if they are transposed.
struct matrix_product {
  bool by_rows = true;
  std::int64_t m = 1, n = 1, k = 1;
  matrix_view a, b;
  std::int64_t c_leading = 1;
  std::int64_t batch = 1;
  std::int64_t step[3] = {0, 0, 0};  ///< of A, B, C: elements between matrices of the batch; 0 repeats the matrix
  friend bool operator==(matrix_product const&, matrix_product const&) = default;
};

/// No library. Shows the members that a backend has.
struct no_library {
  /// True if the library multiplies matrices of T.
  template <class T>
  static constexpr bool multiplies = false;

  /// Returns the largest extent or leading dimension that the library takes.
  static std::int64_t limit() { return 0; }

  // template <class Exec, class T>
  // static void multiply(Exec const&, matrix_product const&, T const* a, T const* b, update<T> const& how, T* c);
  //     The products, in the order in which work was started on the instance; they need not have ended on return. With
  //     beta = 0, C is not read. alpha and beta are accumulator_of_t<T>: sums of 16-bit elements have 32 bits.
};

template <class Exec, class = void>
struct library_of_space {
  using type = no_library;
};

/// The library that multiplies for an execution space.
template <class Exec>
using library_of = typename library_of_space<Exec>::type;

}  // namespace ostraka::engine
