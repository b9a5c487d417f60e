// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. A planned contraction by a library: copies of operands, if the plan asks for them, then batches of
/// products. The outer loops run over labels that are not dimensions of the matrices; summed loops run over labels that
/// could not be merged into the sum (a gathered axis is two loops: device, local).

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <ostraka/engine/kernels/blas/cblas.hpp>
#include <ostraka/engine/kernels/copy_strided.hpp>
#include <ostraka/engine/kernels/loops/parallel.hpp>
#include <ostraka/engine/kernels/products/library_plan.hpp>
#include <ostraka/engine/kernels/update_block.hpp>
#include <ostraka/engine/machine/blas_library.hpp>
#include <ostraka/engine/memory/pool.hpp>

namespace ostraka::engine::detail {

/// Products with fewer multiplications are too small for the host library's own threads.
inline constexpr std::int64_t threads_of_library = 1 << 21;

/// Returns the number of host threads that should share the products; the library's own threads are better for few
/// large products.
template <class Exec>
std::int64_t threads_for(Exec const& exec, contraction_plan const& plan) {
  std::int64_t const threads = exec.concurrency(), products = plan.products();
  if (threads == 1 || products == 1 || openblas::pool() == blas_pool::none)
    return 1;                                       // a BLAS without threads may not be thread-safe
  if (plan.multiplications() < (1 << 16)) return 1;  // a team takes microseconds to wake
  bool const few = products < 4 * threads && products % threads != 0;
  return few && plan.product.m * plan.product.n * plan.product.k > threads_of_library ? 1 : std::min(threads, products);
}

/// Computes products [begin, end) of a plan.
template <class Library, class Exec, class T>
void run_products(Exec const& exec, contraction_plan const& plan, std::int64_t begin, std::int64_t end, T const* a,
                  T const* b, T* c, update<T> const& how) {
  matrix_product p = plan.product;
  std::int64_t const batch = p.batch, sums = plan.summed.size();
  loop_walker<3> outer(plan.outer, begin / batch);
  for (std::int64_t i = begin; i < end; i += p.batch, outer.next()) {
    std::int64_t const first = i % batch;
    std::int64_t at[3];
    for (int o = 0; o < 3; ++o) at[o] = outer.offset[o] + first * p.step[o];
    p.batch = std::min(batch - first, end - i);
    update<T> product = how;  // of the first product; the others are added to it
    loop_walker<2> summed(plan.summed, 0);
    for (std::int64_t s = 0; s < sums; ++s, summed.next(), product.beta = decltype(product.beta)(1))
      Library::multiply(exec, p, a + at[0] + summed.offset[0], b + at[1] + summed.offset[1], product, c + at[2]);
  }
}

/// Computes all products of a plan whose copies have been made.
template <class Library, class Exec, class T>
void multiply_by_library(Exec const& exec, contraction_plan const& plan, T const* a, T const* b, T* c,
                         update<T> const& how) {
  if (!computes()) return;
  std::int64_t const products = plan.products();
  if constexpr (std::is_same_v<Library, cblas>) {
    std::int64_t const threads = threads_for(exec, plan);
    if (threads > 1)
      return for_each_share("ostraka products", exec, products, threads, plan.multiplications(),
                            [&](std::int64_t begin, std::int64_t end, std::int64_t) {
                              run_products<Library>(exec, plan, begin, end, a, b, c, how);
                            });
  }
  run_products<Library>(exec, plan, 0, products, a, b, c, how);
}

/// c <- alpha A B + beta c by a plan for the library that needs copies. @pre the library multiplies T
template <class Library, class Exec, class T>
[[gnu::cold, gnu::noinline]] void multiply_copies(Exec const& exec, contraction const& p, contraction_plan const& plan,
                                                  T const* a, T const* b, T* c, update<T> const& how) {
  using buffer = kernel_scratch<T, typename Exec::memory_space>;
  using factor = decltype(how.alpha);
  auto const buffer_for = [&](operand which) {
    return buffer(plan.copied[static_cast<int>(which)] ? block_of(p, which).size() : 0);
  };
  buffer const copy_of_a = buffer_for(operand::a), copy_of_b = buffer_for(operand::b),
               copy_of_c = buffer_for(operand::c);
  if (plan.copied[0]) copy(exec, copy_of_a.data(), block_of(plan.problem, operand::a), a, block_of(p, operand::a));
  if (plan.copied[1]) copy(exec, copy_of_b.data(), block_of(plan.problem, operand::b), b, block_of(p, operand::b));
  T* const result = plan.copied[2] ? copy_of_c.data() : c;
  multiply_by_library<Library>(exec, plan, plan.copied[0] ? copy_of_a.data() : a,
                               plan.copied[1] ? copy_of_b.data() : b, result,
                               plan.copied[2] ? update<T>{how.alpha, factor(0)} : how);
  if (plan.copied[2])
    copy(exec, c, block_of(p, operand::c), static_cast<T const*>(result), block_of(plan.problem, operand::c),
         update<T>{factor(1), how.beta});
}

/// The same for any plan for the library.
template <class Library, class Exec, class T>
void follow_plan(Exec const& exec, contraction const& p, contraction_plan const& plan, T const* a, T const* b, T* c,
                 update<T> const& how) {
  if (plan.copies()) return multiply_copies<Library>(exec, p, plan, a, b, c, how);
  multiply_by_library<Library>(exec, plan, a, b, c, how);
}

}  // namespace ostraka::engine::detail
