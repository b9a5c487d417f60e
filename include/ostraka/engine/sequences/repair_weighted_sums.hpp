// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Corrects a device's block of a product of weights and values, so that terms with a weight of 0 have no
/// effect (kernels/weighted_sums.hpp): O[Q_X, E] = W[Q_X, K] V[K, E]. Blocks are dense. The device has all terms of its
/// sums, or of its partial sums.

#include <cstdint>

#include <ostraka/engine/kernels/weighted_sums.hpp>
#include <ostraka/engine/mesh/execution_context.hpp>
#include <ostraka/plan/spec/blocks.hpp>

namespace ostraka::engine {

namespace detail {

/// The ranges of all labels of a block, and the strides along them.
struct block_by_label {
  planner::range held[planner::max_labels]{};
  std::int64_t step[planner::max_labels]{};

  block_by_label(execution_context const& w, planner::spec const& s) {
    std::int64_t elements = 1;
    for (int i = s.rank - 1; i >= 0; --i) {
      held[s.label[i]] = planner::range_of(s, i, w.here, w.sizes);
      step[s.label[i]] = elements;
      elements *= held[s.label[i]].size();
    }
  }
};

inline planner::range common_range(planner::range a, planner::range b) {
  return {a.begin < b.begin ? b.begin : a.begin, a.end < b.end ? a.end : b.end};
}

}  // namespace detail

/// True if the product of weights with values may have multiplied a weight of 0 by an infinity or a NaN. Checks the
/// smaller of two blocks, that of the values or that of the result. Always true on a GPU, where a repair, which reads
/// each sum, costs less than waiting for the answer.
template <class Exec, class T>
bool may_involve_nan(Exec const& exec, T const* values, std::int64_t of_values, T const* sums, std::int64_t of_sums) {
  if constexpr (!runs_on_host<Exec>) {
    return of_sums > 0 && computes();
  } else {
    loop_nest<1> loops;
    loops.add(of_sums <= of_values ? of_sums : of_values, 1);
    return !is_finite_block(exec, loops, of_sums <= of_values ? sums : values);
  }
}

/// Infinite or NaN elements of `sums` <- Σ weight · value over the labels that the sums lack, for terms with a nonzero
/// weight. @pre `sums` is the product of these blocks, without communication
template <class Exec, class T>
[[gnu::cold]] void repair_weighted_sums(Exec const& exec, execution_context const& w, planner::spec const& of_weights,
                                        planner::spec const& of_values, planner::spec const& of_sums, T const* weights,
                                        T const* values, T* sums) {
  if (w.here.nowhere) return;
  detail::block_by_label const a(w, of_weights), b(w, of_values);
  weighted_sums<T> in{{}, {}, weights, values, sums};
  auto const place = [&](int l, planner::range r) {
    if (of_weights.find(l) >= 0) in.weight += (r.begin - a.held[l].begin) * a.step[l];
    if (of_values.find(l) >= 0) in.value += (r.begin - b.held[l].begin) * b.step[l];
  };
  std::int64_t step = planner::block_size(of_sums, w.here, w.sizes);
  if (step == 0) return;
  for (int i = 0; i < of_sums.rank; ++i) {
    int const l = of_sums.label[i];
    planner::range const r = planner::range_of(of_sums, i, w.here, w.sizes);
    step /= r.size();
    in.sums.add(r.size(), a.step[l], b.step[l], step);
    place(l, r);
  }
  for (int l = 0; l < w.sizes.labels; ++l) {
    bool const weighs = of_weights.find(l) >= 0, is_weighed = of_values.find(l) >= 0;
    if (of_sums.find(l) >= 0 || !(weighs || is_weighed)) continue;
    planner::range const r = !weighs ? b.held[l] : !is_weighed ? a.held[l] : detail::common_range(a.held[l], b.held[l]);
    in.terms.add(r.size() < 0 ? 0 : r.size(), a.step[l], b.step[l]);
    place(l, r);
  }
  repair_sums(exec, in);
  fence_on_host(exec);
}

}  // namespace ostraka::engine
