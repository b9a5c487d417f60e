// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. How a contraction is computed here: the cheapest of the library's ways by an estimate, with operands copied
/// whole where that pays, or our own kernels.

#include <algorithm>
#include <cstdint>

#include <ostraka/engine/kernels/blas/cblas.hpp>
#include <ostraka/engine/kernels/contraction_labels.hpp>
#include <ostraka/engine/kernels/loop_nest.hpp>
#include <ostraka/engine/kernels/products/algorithms.hpp>
#include <ostraka/engine/kernels/products/kernel_cost.hpp>
#include <ostraka/engine/kernels/products/matrix_dimension.hpp>
#include <ostraka/engine/kernels/products/product_cost.hpp>
#include <ostraka/engine/kernels/products/whole_packing.hpp>
#include <ostraka/engine/kernels/x86/wide.hpp>
#include <ostraka/engine/machine/openblas.hpp>

namespace ostraka::engine {

namespace detail {

/// Panels larger than a core's second cache, because what is gathered twice costs more than what comes from the third.
inline constexpr std::int64_t panel_bytes = 4 << 20;

/// Products of this size that lie as the library likes them are the library's: an estimate is no match for those who
/// tuned it. Not so where ours are known to be at least as fast.
inline constexpr std::int64_t library_side = 128;

/// With AVX-512 our tiles are measured against OpenBLAS, whose kernels reach 0.65 to 0.9 of MKL's there; of other
/// libraries we know nothing. Where the library has more threads than the host, it keeps its advantage.
inline bool ours_are_known() {
  return widest_vectors() == vector_width::avx512 && !openblas::core().empty() &&
         openblas::threads() <= Kokkos::DefaultHostExecutionSpace().concurrency();
}

/// Cache lines fetched an element of a panel beyond what would do: all of a line but one element is lost where the loop
/// along it is not in the panel.
template <class T>
double lost_lines(loop_nest<3> const& batch, int of_batch, matrix_dimension const& d, int o, matrix_dimension const& e,
                  int p) {
  std::int64_t outside = std::min(d.smallest_outside(o), e.smallest_outside(p));
  for (int l = 0; l < batch.rank; ++l) outside = std::min(outside, batch.stride[of_batch][l]);
  bool const along_d = d.smallest_stride(o) < e.smallest_stride(p);
  std::int64_t const inside = along_d ? d.smallest_stride(o) : e.smallest_stride(p);
  double const covered = outside < inside ? 1 : static_cast<double>(along_d ? d.covered(o) : e.covered(p));
  double const line = 64 / static_cast<double>(sizeof(T));
  return std::max(1 / covered, 1 / line) - 1 / line;
}

/// How often each thing is done along the plan, whose panels and views are known. An operand's panel is gathered again
/// whenever another one was needed in between.
template <class T>
cost_counts counts_of(contraction_plan const& plan, product_loops const& loops) {
  auto const real = [](std::int64_t x) { return static_cast<double>(x); };
  auto const each = [&](matrix_dimension const& d) { return real(d.extent) / real(d.panels()); };
  double const batch = real(loops.batch.size()), m_outer = real(plan.m.outer.size()),
               n_outer = real(plan.n.outer.size());
  double const m_pieces = m_outer * real(plan.m.panels()), n_pieces = n_outer * real(plan.n.panels()),
               k_pieces = real(plan.k.outer.size() * plan.k.panels());
  double const m = m_outer * real(plan.m.extent), n = n_outer * real(plan.n.extent),
               k = real(plan.k.outer.size() * plan.k.extent);
  cost_counts counts;
  count_products<T>(counts, batch * m_pieces * n_pieces * k_pieces, {each(plan.m), each(plan.n), each(plan.k)},
                    plan.by_rows ? each(plan.n) : each(plan.m));
  if (is_slow_pair<T>(plan)) counts.add(cost::slow_pair, work_factor<T> * batch * m * n * k);

  double const size = static_cast<double>(sizeof(T));
  bool const lone = m == 1 || n == 1;
  auto const move = [&](int operand, matrix_view const& view, double elements, double again, double uses,
                        matrix_dimension const& d, int o, matrix_dimension const& e, int p) {
    bool const far = elements * size > near_bytes;
    double const ways = operand == 2 ? 2 : 1;  // a result is read before it is written
    if (plan.copied[operand]) {
      counts.add(cost::setting_up, 1);
      bool const turned = plan.turned[operand] > 0;
      counts.add(turned ? cost::turned : cost::copied, size_factor<T> * elements * (turned ? plan.turned[operand] : 1));
      count_stream<T>(counts, 3 * elements, elements, lone);
    }
    if (!plan.pack[operand]) {
      double const row = each(view.transposed != plan.by_rows ? e : d);
      count_stream<T>(counts, ways * uses * elements, elements, lone);
      if (far && row * size < 4096 && real(view.leading) * size >= 4096)
        counts.add(cost::far_row, uses * elements / row);
      return;
    }
    double const lines = again * elements * lost_lines<T>(loops.batch, operand, d, o, e, p);
    counts.add(cost::setting_up, 1);
    counts.add(std::max(d.run(o), e.run(p)) >= 4 ? cost::moved : cost::moved_alone, size_factor<T> * again * elements);
    counts.add(far ? cost::far_line : cost::near_line, lines);
    count_stream<T>(counts, ways * again * elements, elements, lone);
  };
  double const a_again = plan.m.panels() == 1 && k_pieces == 1 ? 1 : n_pieces;
  double const b_again = k_pieces > 1 ? m_pieces : n_pieces > 1 ? m_outer : 1;
  move(0, plan.a, batch * m * k, a_again, n_pieces, plan.m, 0, plan.k, 0);
  move(1, plan.b, batch * k * n, b_again, m_pieces, plan.k, 1, plan.n, 0);
  move(2, plan.c, batch * m * n, 1, k_pieces, plan.m, 1, plan.n, 1);
  return counts;
}

/// The cheapest plan in which these operands are gathered; `plan` stays if none is cheaper.
template <class T>
void try_packing(contraction_plan& plan, contraction_plan& candidate, product_loops const& loops, int packed,
                 std::int64_t bytes) {
  plan_choice choice{{(packed & 1) != 0, (packed & 2) != 0, (packed & 4) != 0}, {0, 0, 0}};
  plan_groups const groups(loops, choice.pack);
  for (choice.group[0] = 0; choice.group[0] < groups.m.count; ++choice.group[0])
    for (choice.group[1] = 0; choice.group[1] < groups.n.count; ++choice.group[1])
      for (choice.group[2] = 0; choice.group[2] < groups.k.count; ++choice.group[2]) {
        if (!complete_plan<T>(candidate, groups, choice, bytes)) continue;
        candidate.cost = counts_of<T>(candidate, loops).nanoseconds();
        if (plan.library && candidate.cost >= plan.cost) continue;
        plan = candidate;
        complete_outer_loops(plan, loops);
      }
}

/// The label along which an operand takes its smallest steps; -1 if there is none.
inline int smallest_label(contraction const& p, operand which) {
  int found = -1;
  for (int l = 0; l < p.labels; ++l)
    if (presence_of(p, which)[l] && p.extent[l] > 1 &&
        (found < 0 || strides_of(p, which)[l] < strides_of(p, which)[found]))
      found = l;
  return found;
}

/// Elements that are moved for one where those along one label come to lie along another: squares of vectors are
/// turned, and unfilled ones take as long.
template <class T>
double filling_of_squares(std::int64_t one, std::int64_t other) {
  constexpr std::int64_t lanes = sizeof(T) < 64 ? 64 / static_cast<std::int64_t>(sizeof(T)) : 1;
  auto const padded = [](std::int64_t extent) {
    return static_cast<double>((extent + lanes - 1) / lanes * lanes) / static_cast<double>(extent);
  };
  return padded(one) * padded(other);
}

/// The cheapest plan in which these operands are copied whole and those are gathered (bits 0, 1, 2: a, b, c); `plan`
/// stays if none is cheaper.
template <class T>
void try_copying(contraction_plan& plan, contraction const& problem, int copied, int packed,
                 std::int64_t bytes = panel_bytes) {
  contraction_plan candidate;
  candidate.problem = problem;
  for (operand const which : {operand::c, operand::a, operand::b}) {
    candidate.copied[static_cast<int>(which)] = (copied >> static_cast<int>(which) & 1) != 0;
    if (!candidate.copied[static_cast<int>(which)]) continue;
    pack_strides(candidate.problem, which);
    int const from = smallest_label(problem, which), to = smallest_label(candidate.problem, which);
    candidate.turned[static_cast<int>(which)] =
        from == to ? 0 : filling_of_squares<T>(problem.extent[from], problem.extent[to]);
  }
  try_packing<T>(plan, candidate, loops_of(candidate.problem), packed, bytes);
}

}  // namespace detail

/// The cheapest way by an estimate of its time. @pre no label is in one operand alone; no extent is 0
template <class T>
contraction_plan plan_contraction(contraction const& problem) {
  contraction_plan plan;
  if (!has_cblas_gemm<T>) return plan;
  product_loops const loops = loops_of(problem);
  std::int64_t const m = loops.m.size(), n = loops.n.size(), k = loops.k.size(), batch = loops.batch.size();
  if (k == 1 || (m == 1 && n == 1))
    return plan;  // nothing for the library: elementwise and outer products, sums of products
  detail::try_copying<T>(plan, problem, 0, 0);
  if (plan.library && std::min({plan.m.extent, plan.n.extent, plan.k.extent}) >= detail::library_side &&
      !detail::ours_are_known())
    return plan;
  auto const real = [](std::int64_t x) { return static_cast<double>(x); };
  detail::cost_counts products;
  detail::count_products<T>(products, real(batch), {real(m), real(n), real(k)}, real(n));
  for (std::int64_t const elements : {m * k, k * n, m * n, m * n})  // a result is read and written
    detail::count_stream<T>(products, real(batch * elements), real(batch * elements), m == 1 || n == 1);
  double const at_best = products.nanoseconds(), by_ourselves = detail::counts_of_our_kernels<T>(loops).nanoseconds();
  if (by_ourselves <= at_best) return contraction_plan();
  auto const good_enough = [&] { return plan.library && plan.cost <= 1.1 * at_best; };
  for (int packed = 1; packed < 8 && !good_enough(); ++packed) detail::try_copying<T>(plan, problem, 0, packed);
  for (int copied = 1; copied < 8 && !good_enough(); ++copied)
    for (int packed = 0; packed < 8; ++packed)
      if ((packed & copied) == 0) detail::try_copying<T>(plan, problem, copied, packed);
  if (plan.library && plan.cost > by_ourselves) plan = contraction_plan();
  return plan;
}

}  // namespace ostraka::engine
