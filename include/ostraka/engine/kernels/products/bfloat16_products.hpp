// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Contractions of bfloat16 on the host by the program's library, if it has one: a single product or batch of
/// products, on the blocks in place or on copies of whole operands. Other contractions are computed as floats
/// (products/widened.hpp).

#include <algorithm>
#include <cstdint>

#include <ostraka/engine/kernels/blas/bfloat16_library.hpp>
#include <ostraka/engine/kernels/blas/library_product.hpp>
#include <ostraka/engine/kernels/contraction_labels.hpp>
#include <ostraka/engine/kernels/loops/parallel.hpp>
#include <ostraka/engine/kernels/portable/batch_vectorised.hpp>
#include <ostraka/engine/kernels/products/contraction_cache.hpp>
#include <ostraka/engine/kernels/products/library_plan.hpp>
#include <ostraka/engine/kernels/scaled_update.hpp>
#include <ostraka/types/values/half.hpp>

namespace ostraka::engine {

/// Contractions below any of these limits are computed as floats: a library would be slower, or would need more than a
/// hundred calls to make up for the fraction of a millisecond in which it generates code for a shape. Tests lower them.
struct bfloat16_worth {
  std::int64_t multiplications = 1 << 16;
  std::int64_t of_matrices = 512;  ///< multiplications of one product of a batch
  std::int64_t longer_side = 8;    ///< the larger of m and n
  std::int64_t per_copied = 3;     ///< multiplications for each element that is copied
};
[[gnu::visibility("default")]] inline constinit bfloat16_worth worth_of_bfloat16_library{};

namespace detail {

/// The program's library, with the interface that follow_plan calls.
struct bfloat16_products {
  template <class Exec>
  static void multiply(Exec const& exec, matrix_product const& p, bfloat16 const* a, bfloat16 const* b,
                       update<bfloat16> const&, bfloat16* c) {
    fence(exec);
    bfloat16_library_of_program->multiply(p, a, b, c);
  }
};

/// True if the program has a library that may compute the contraction, and the contraction is large enough.
inline bool may_multiply_bfloat16(contraction const& p, update<bfloat16> const& how) {
  if (bfloat16_library_of_program == nullptr || !how.overwrites()) return false;
  std::int64_t multiplications = 1;
  for (int l = 0; l < p.labels; ++l) multiplications *= p.extent[l];
  return multiplications >= worth_of_bfloat16_library.multiplications &&
         bfloat16_library_of_program->serves_processor();
}

/// True if there are no gaps within and between the matrices of a product.
inline bool is_gapless(matrix_product const& p) {
  auto const of_rows = [&](matrix_view const& x) { return p.by_rows != x.transposed; };
  auto const follows = [&](int which, std::int64_t size) {
    return p.batch == 1 || p.step[which] == size || (which < 2 && p.step[which] == 0);
  };
  return p.a.leading == (of_rows(p.a) ? p.k : p.m) && p.b.leading == (of_rows(p.b) ? p.n : p.k) &&
         p.c_leading == (p.by_rows ? p.n : p.m) && follows(0, p.m * p.k) && follows(1, p.k * p.n) &&
         follows(2, p.m * p.n);
}

/// Returns the plan of a contraction in one call of the library, with as few copied elements as possible; its `library`
/// is false if there is none. @pre no label is in one operand alone; no extent is 0
[[gnu::cold]] inline contraction_plan plan_bfloat16(contraction const& problem) {
  constexpr std::int64_t most = 2147483647;
  contraction_plan best;
  product_loops const loops = loops_of(problem);
  std::int64_t const m = loops.m.size(), n = loops.n.size(), k = loops.k.size();
  if (k == 1 || std::min(m, n) == 1 || std::max(m, n) < worth_of_bfloat16_library.longer_side ||
      m * n * k < worth_of_bfloat16_library.of_matrices || is_batch_vectorised<float>(loops))
    return best;
  for (int copied = 0; copied < 8; ++copied)
    for_each_library_plan(problem, copied, most, [&](contraction_plan& candidate) {
      if (candidate.outer.size() > 1 || candidate.summed.size() > 1 || !is_gapless(candidate.product)) return;
      std::int64_t copied_elements = 0;
      for (operand const which : {operand::a, operand::b, operand::c})
        if (candidate.copied[static_cast<int>(which)]) copied_elements += block_of(problem, which).size();
      if (candidate.multiplications() < copied_elements * worth_of_bfloat16_library.per_copied) return;
      candidate.cost = static_cast<double>(copied_elements);
      if (!best.library || candidate.cost < best.cost) best = candidate;
    });
  best.library = best.library && bfloat16_library_of_program->has(best.product);
  return best;
}

/// c <- A B by the library of the program. True if the library computes it. @pre may_multiply_bfloat16
template <class Exec>
bool contract_bfloat16(Exec const& exec, contraction const& p, bfloat16 const* a, bfloat16 const* b, bfloat16* c,
                       plan_ticket& ticket) {
  contraction_plan const* const plan = plan_cache<bfloat16, &plan_bfloat16>::instance().find(p, ticket);
  if (plan == nullptr || !plan->library) return false;
  follow_plan<bfloat16_products>(exec, p, *plan, a, b, c, update<bfloat16>{});
  return true;
}

}  // namespace detail
}  // namespace ostraka::engine
