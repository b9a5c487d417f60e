// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Products of weights in ring attention: sums += weights · values. If the causal mask hides some pairs, their
/// weights are 0, and their values have no effect, not even a NaN. Only such a product, one or two in a ring, checks
/// its values first.

#include <ostraka/engine/kernels/weighted_sums.hpp>
#include <ostraka/engine/sequences/ring_blocks.hpp>

namespace ostraka::engine::detail {

template <class Exec, class T>
bool is_finite_block(Exec const& exec, labelled_block<T const> const& b) {
  return engine::is_finite_block(exec, loops_along(b), b.data);
}

/// sums += weights · values over the labels that the sums lack, for terms with a nonzero weight.
template <class Exec, class T>
[[gnu::cold, gnu::noinline]] void add_weighted_sums(Exec const& exec, labelled_block<T const> const& weights,
                                                    labelled_block<T const> const& values,
                                                    labelled_block<T> const& sums) {
  weighted_sums<T> in{{}, {}, weights.data, values.data, sums.data};
  contraction const p = planner::contraction_of(weights, values, sums);
  if (counts_flops()) count_flops(p, true, int{sizeof(T)});
  for (int l = 0; l < p.labels; ++l)
    if (p.in_c[l])
      in.sums.add(p.extent[l], p.a[l], p.b[l], p.c[l]);
    else if (p.in_a[l] || p.in_b[l])
      in.terms.add(p.extent[l], p.a[l], p.b[l]);
  add_sums(exec, in);
}

/// sums += weights · values. With `hides` a weight of 0 contributes nothing.
template <class Exec, class T>
void add_products(Exec const& exec, labelled_block<T const> const& weights, labelled_block<T const> const& values,
                  labelled_block<T> const& sums, bool hides) {
  if (hides && !is_finite_block(exec, values)) return add_weighted_sums(exec, weights, values, sums);
  multiply(exec, weights, values, sums, T(1), T(1));
}

}  // namespace ostraka::engine::detail
