// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. A product for libraries that only take matrices stored by columns, cuBLAS and rocBLAS: Z[rows, columns] <-
/// alpha op(X) op(Y) + beta Z. A matrix stored by rows is its transpose stored by columns, so C = A B by rows is Z = X
/// Y with X = B and Y = A.

#include <cstdint>
#include <utility>

#include <ostraka/engine/kernels/blas/matrix_product.hpp>

namespace ostraka::engine {

/// A call of a strided-batched product of matrices stored by columns.
struct column_major_call {
  /// X, Y or Z: the number of its operand among A, B, C, whether the library transposes it, and its layout.
  struct matrix {
    int operand = 0;
    bool transposed = false;
    std::int64_t leading = 1;
    std::int64_t step = 0;
  };
  matrix x, y, z;
  std::int64_t rows = 1, columns = 1, inner = 1;
  std::int64_t batch = 1;
};

constexpr column_major_call column_major(matrix_product const& p) {
  column_major_call call{{0, p.a.transposed, p.a.leading, p.step[0]},
                         {1, p.b.transposed, p.b.leading, p.step[1]},
                         {2, false, p.c_leading, p.step[2]},
                         p.m,
                         p.n,
                         p.k,
                         p.batch};
  if (p.by_rows) {
    std::swap(call.x, call.y);
    std::swap(call.rows, call.columns);
  }
  return call;
}

}  // namespace ostraka::engine
