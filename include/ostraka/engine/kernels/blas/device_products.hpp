// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. A contraction on a GPU as strided-batched products of its library: on the blocks in place, or on copies of
/// whole operands if that saves calls. The cost counts calls and copied bytes.

#include <cstdint>

#include <ostraka/engine/kernels/blas/cblas.hpp>
#include <ostraka/engine/kernels/blas/library_product.hpp>
#include <ostraka/engine/kernels/contraction_labels.hpp>
#include <ostraka/engine/kernels/products/contraction_cache.hpp>
#include <ostraka/engine/kernels/products/library_plan.hpp>
#include <ostraka/engine/kernels/scaled_update.hpp>
#include <ostraka/types/values/half.hpp>

namespace ostraka::engine {

namespace detail {

/// Microseconds between two kernel starts on a GPU, and bytes that it copies in a microsecond. Rough estimates: no GPU
/// has been timed.
inline constexpr double device_start = 5;
inline constexpr double device_bytes = 1e6;

/// Returns the number of calls of the library.
inline std::int64_t calls_of(contraction_plan const& plan) { return plan.outer.size() * plan.summed.size(); }

inline double microseconds_of(contraction_plan const& plan, std::int64_t element_bytes) {
  double time = static_cast<double>(calls_of(plan)) * device_start;
  for (operand const which : {operand::a, operand::b, operand::c}) {
    if (!plan.copied[static_cast<int>(which)]) continue;
    double const moved = static_cast<double>(block_of(plan.problem, which).size() * element_bytes);
    time += device_start + (which == operand::c ? 3 : 2) * moved / device_bytes;  // C is written, read, and added to C
  }
  return time;
}

}  // namespace detail

/// Returns the plan of a contraction for a GPU's library; its `library` is false if the library has no product for it.
/// @pre as for plan_contraction
template <class T>
contraction_plan plan_on_device(contraction const& problem) {
  contraction_plan best;
  product_loops const loops = loops_of(problem);
  if (loops.k.size() == 1 || (loops.m.size() == 1 && loops.n.size() == 1)) return best;
  for (int copied = 0; copied < 8; ++copied)
    detail::for_each_library_plan(problem, copied, cblas_limit, [&](contraction_plan& candidate) {
      // C would be rounded after each of several products, and before it is added to its old value.
      if (is_narrow<T> && (candidate.summed.size() > 1 || candidate.copied[static_cast<int>(operand::c)])) return;
      if (candidate.product.batch > cblas_limit) return;
      candidate.cost = detail::microseconds_of(candidate, static_cast<std::int64_t>(sizeof(T)));
      if (!best.library || candidate.cost < best.cost) best = candidate;
    });
  return best;
}

/// c <- alpha A B + beta c by the library. True if the library does it.
template <class Library, class Exec, class T>
bool contract_on_device(Exec const& exec, contraction const& p, T const* a, T const* b, T* c, update<T> const& how,
                        plan_ticket& ticket) {
  contraction_plan const* const plan = detail::plan_cache<T, &plan_on_device<T>>::instance().find(p, ticket);
  if (plan == nullptr || !plan->library) return false;
  detail::follow_plan<Library>(exec, p, *plan, a, b, c, how);
  return true;
}

}  // namespace ostraka::engine
