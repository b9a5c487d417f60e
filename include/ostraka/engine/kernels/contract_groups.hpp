// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. A contraction in groups of rows, each with its own matrix: the products of a mixture of experts. Groups are
/// consecutive along one label; a list has their lengths at run time.
///
///     rows of A and C     C[r, n]    = Σ_m A[r, m] B[g, m, n]        r in group g
///     rows of A and B     C[g, m, n] = Σ_r A[r, m] B[r, n]           over the r of group g

#include <Kokkos_Core.hpp>

#include <cstdint>

#include <ostraka/engine/kernels/contraction.hpp>

namespace ostraka::engine {

/// The label that is cut into groups, the lengths of the groups, and, for each operand, the distance between the
/// matrices of two groups (0 in operands with the label).
struct contraction_groups {
  int rows = 0;
  std::int64_t const* sizes = nullptr;
  std::int64_t count = 0;
  std::int64_t step[3] = {0, 0, 0};
};

/// Computes the products of all groups, one after the other. Rows after the last group become zeros, or are not summed.
/// The groups together have at most as many rows as there are. The extent of the label in `problem` is the number of
/// all rows. It does not fence.
template <class Exec, class T>
void contract_groups(Exec const& exec, contraction problem, contraction_groups const& groups, T const* a, T const* b,
                     T* c) {
  auto const r = static_cast<std::size_t>(groups.rows);
  std::int64_t const all = problem.extent[r];
  std::int64_t const stride[3] = {problem.in_a[r] ? problem.a[r] : 0, problem.in_b[r] ? problem.b[r] : 0,
                                  problem.in_c[r] ? problem.c[r] : 0};
  std::int64_t begin = 0;
  auto const run = [&](std::int64_t group, std::int64_t size, update<T> const& how) {
    std::int64_t at[3];
    for (int o = 0; o < 3; ++o) at[o] = begin * stride[o] + group * groups.step[o];
    problem.extent[r] = size;
    contract(exec, problem, a + at[0], b + at[1], c + at[2], how);
    begin += size;
  };
  for (std::int64_t g = 0; g < groups.count; ++g) {
    std::int64_t const left = all - begin, size = groups.sizes[g];
    run(g, size < 0 ? 0 : size < left ? size : left, {});
  }
  if (begin < all && problem.in_c[r]) run(0, all - begin, {accumulator_of_t<T>(0), accumulator_of_t<T>(0)});
}

}  // namespace ostraka::engine
