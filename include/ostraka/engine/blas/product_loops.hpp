// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. A planned contraction as a loop over matrix products of the library: over the batch, over what could not be joined in m and n, and,
/// adding up, over what could not be joined in k (a gathered axis is such a pair: device, local).

#include <cstdint>

#include <ostraka/engine/blas/cblas.hpp>
#include <ostraka/engine/contraction_plan.hpp>

namespace ostraka::engine::detail {

#if OSTRAKA_ENABLE_CBLAS

template <class T>
void run_products(contraction_plan const& plan, T const* a, T const* b, T* c, update<T> const& how) {
  matrix_product const& p = plan.product;
  auto const outer = [](auto const& nest, int loop) { return loop < 0 ? nest : nest.without(loop); };
  loop_nest<2> const m_outer = outer(plan.loops.m, p.m_loop);
  loop_nest<2> const n_outer = outer(plan.loops.n, p.n_loop);
  loop_nest<2> const k_outer = outer(plan.loops.k, p.k_loop);

  loop_walker<3> batch(plan.loops.batch, 0);
  for (std::int64_t ib = plan.loops.batch.size(); ib > 0; --ib, batch.next()) {
    loop_walker<2> m(m_outer, 0);
    for (std::int64_t im = m_outer.size(); im > 0; --im, m.next()) {
      loop_walker<2> n(n_outer, 0);
      for (std::int64_t in = n_outer.size(); in > 0; --in, n.next()) {
        loop_walker<2> k(k_outer, 0);
        update<T> product = how;  // the first one; the others are added to it
        for (std::int64_t ik = k_outer.size(); ik > 0; --ik, k.next(), product.beta = T(1))
          cblas_gemm(p.by_rows, p.a, p.b, p.m, p.n, p.k, a + batch.offset[0] + m.offset[0] + k.offset[0],
                     b + batch.offset[1] + n.offset[0] + k.offset[1], product, c + batch.offset[2] + m.offset[1] + n.offset[1], p.c_leading);
      }
    }
  }
}

#endif

}  // namespace ostraka::engine::detail
