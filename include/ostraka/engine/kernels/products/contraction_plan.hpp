// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Chooses the cheapest way to compute a contraction, by an estimate: the library on the blocks in place, the
/// library with some blocks copied whole, or our own kernels.

#include <algorithm>
#include <cstdint>

#include <ostraka/engine/kernels/blas/cblas.hpp>
#include <ostraka/engine/kernels/contraction_labels.hpp>
#include <ostraka/engine/kernels/portable/batch_vectorised.hpp>
#include <ostraka/engine/kernels/products/library_plan.hpp>
#include <ostraka/engine/kernels/products/product_cost.hpp>

namespace ostraka::engine {

namespace detail {

/// Sets `plan` to the library's cheapest plan with these operands copied (bits 0, 1, 2: a, b, c), if it is cheaper than
/// `plan` or `plan` does not use the library.
template <class T>
[[gnu::cold]] void try_copying(contraction_plan& plan, contraction const& problem, int copied, std::int64_t limit) {
  for_each_library_plan(problem, copied, limit, [&](contraction_plan& candidate) {
    candidate.cost = cost_of_plan<T>(problem, candidate);
    if (!plan.library || candidate.cost < plan.cost) plan = candidate;
  });
}

/// True if our own kernels compute the contraction in any case: it has no sum, no matrix, or its batch is innermost in
/// memory.
template <class T>
bool is_ours(product_loops const& loops) {
  return loops.k.size() == 1 || !worth_tiles(loops) || is_batch_vectorised<T>(loops);
}

// Plans for the library if that is worth it.
template <class T>
[[gnu::cold]] void plan_library(contraction_plan& plan, contraction const& problem) {
  product_loops const& loops = plan.ours.loops;
  if (is_ours<T>(loops)) return;
  double const by_ourselves = cost_of_tiles<T>(loops);
  double const at_best =
      cost_of_products<T>(real(loops.batch.size()), real(loops.m.size()), real(loops.n.size()), real(loops.k.size()));
  if (by_ourselves <= at_best) return;
  contraction_plan best;
  for (int copied = 0; copied < 8 && !(best.library && best.cost <= 1.1 * at_best); ++copied)
    try_copying<T>(best, problem, copied, cblas::limit());
  if (best.library && best.cost <= by_ourselves) plan = best;
}

}  // namespace detail

/// Returns the plan on the host. @pre no label is in one operand alone; no extent is 0
template <class T>
[[gnu::cold]] contraction_plan plan_contraction(contraction const& problem) {
  contraction_plan plan;
  if constexpr (cblas::multiplies<T>) {
    plan.ours = detail::arrange_product<T>(problem);
    detail::plan_library<T>(plan, problem);
  }
  return plan;
}

}  // namespace ostraka::engine
