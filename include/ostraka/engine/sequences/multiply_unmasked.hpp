// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Products of weights in ring attention: sums += weights · values. If the causal mask hides some pairs, their
/// weights are 0, and their values have no effect, not even a NaN. Only such products, one or two in a ring, check
/// their values first. On a GPU, where the host would wait for the answer, a kernel repairs the product's sums before
/// they are added.

#include <ostraka/engine/kernels/weighted_sums.hpp>
#include <ostraka/engine/sequences/ring_blocks.hpp>

namespace ostraka::engine::detail {

template <class Exec, class T>
bool is_finite_block(Exec const& exec, labelled_block<T const> const& b) {
  return engine::is_finite_block(exec, loops_along(b), b.data);
}

/// Returns the sums of weights · values over the labels that the sums lack.
template <class T>
weighted_sums<T> weighted_sums_of(contraction const& p, T const* weights, T const* values, T* sums) {
  weighted_sums<T> in{{}, {}, weights, values, sums};
  for (int l = 0; l < p.labels; ++l)
    if (p.in_c[l])
      in.sums.add(p.extent[l], p.a[l], p.b[l], p.c[l]);
    else if (p.in_a[l] || p.in_b[l])
      in.terms.add(p.extent[l], p.a[l], p.b[l]);
  return in;
}

/// sums += weights · values, for terms with a nonzero weight.
template <class Exec, class T>
[[gnu::cold, gnu::noinline]] void add_weighted_sums(Exec const& exec, labelled_block<T const> const& weights,
                                                    labelled_block<T const> const& values,
                                                    labelled_block<T> const& sums) {
  contraction const p = planner::contraction_of(weights, values, sums);
  if (counts_flops()) count_flops(p, true, int{sizeof(T)});
  add_sums(exec, weighted_sums_of(p, weights.data, values.data, sums.data));
}

/// The same by a product, after which sums that are infinite or NaN are computed again.
template <class Exec, class T>
void add_repaired_product(Exec const& exec, labelled_block<T const> const& weights,
                          labelled_block<T const> const& values, labelled_block<T> const& sums) {
  kernel_scratch<T, typename Exec::memory_space> const own(sums.size());
  labelled lies = sums;
  labelled_block<T> const product{lies.close_gaps(), own.data()};
  multiply(exec, weights, values, product, T(1), T(0));
  repair_sums(exec, weighted_sums_of(planner::contraction_of(weights, values, product), weights.data, values.data,
                                     product.data));
  copy(exec, sums.data, sums, product.data, product.in_order_of(sums), update<T>{T(1), T(1)});
}

/// sums += weights · values. With `hides` a weight of 0 contributes nothing.
template <class Exec, class T>
void add_products(Exec const& exec, labelled_block<T const> const& weights, labelled_block<T const> const& values,
                  labelled_block<T> const& sums, bool hides) {
  if constexpr (!runs_on_host<Exec>) {
    if (hides) return add_repaired_product(exec, weights, values, sums);
  } else {
    if (hides && !is_finite_block(exec, values)) return add_weighted_sums(exec, weights, values, sums);
  }
  multiply(exec, weights, values, sums, T(1), T(1));
}

}  // namespace ostraka::engine::detail
