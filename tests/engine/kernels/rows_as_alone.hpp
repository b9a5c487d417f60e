// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// A matrix times a vector in sums that round. The number of rows must not change the bits of any of them.

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

#include <ostraka/engine/kernels/contraction.hpp>

namespace ostraka::testing {

/// 1 / first, 1 / (first + 1), …: `period` many, over and over.
template <class T>
std::vector<T> fractions(std::int64_t count, std::size_t first, std::size_t period) {
  std::vector<T> all(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = T(1) / static_cast<T>(first + i % period);
  return all;
}

/// C[i] = sum over r of A[i, r] B[r] of fractions: a row among others has the bits that it has alone.
template <class T>
bool rows_are_as_alone(std::int64_t rows, std::int64_t length) {
  std::vector<T> const a = fractions<T>(rows * length, 1, 977), b = fractions<T>(length, 3, 91);
  std::vector<T> together(static_cast<std::size_t>(rows)), alone = together;
  Kokkos::DefaultHostExecutionSpace const exec;
  engine::contraction p;
  p.labels = 2;
  p.extent[0] = rows, p.in_a[0] = p.in_c[0] = true, p.a[0] = length, p.c[0] = 1;
  p.extent[1] = length, p.in_a[1] = p.in_b[1] = true, p.a[1] = p.b[1] = 1;
  engine::contract(exec, p, a.data(), b.data(), together.data());
  p.extent[0] = 1;
  for (std::int64_t i = 0; i < rows; ++i) engine::contract(exec, p, a.data() + i * length, b.data(), alone.data() + i);
  exec.fence();
  return together == alone;
}

}  // namespace ostraka::testing
