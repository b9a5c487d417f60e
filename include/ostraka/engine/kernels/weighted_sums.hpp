// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Weighted sums that ignore terms with a weight of 0, whatever the value: Σ w v over the terms with w ≠ 0. In
/// a product of matrices, 0 times NaN is NaN, so elements that a mask hides would affect all rows. Products are fast,
/// and elements are usually finite. So the product is computed first, and its sums are computed again, one after the
/// other, only if the result or the values have an infinity or a NaN.

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>

#include <ostraka/engine/kernels/folds/unrolled_dot.hpp>
#include <ostraka/engine/kernels/loops/loop_nest.hpp>
#include <ostraka/engine/kernels/loops/parallel.hpp>

namespace ostraka::engine {

/// The sums of one block: the loops over the sums, and over the terms of each.
template <class T>
struct weighted_sums {
  loop_nest<3> sums;   ///< {weight, value, sum}
  loop_nest<2> terms;  ///< {weight, value}
  T const* weight;
  T const* value;
  T* sum;

  /// Returns Σ w v of iteration i of the sums.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION T of(std::int64_t const (&at)[3]) const {
    T s = 0;
    std::int64_t const n = terms.size();
    loop_walker<2> term(terms, 0);
    for (std::int64_t r = 0; r < n; ++r, term.next()) {
      T const w = weight[at[0] + term.offset[0]];
      if (w != T(0)) s += w * value[at[1] + term.offset[1]];
    }
    return s;
  }
};

namespace detail {

template <class T>
KOKKOS_INLINE_FUNCTION bool is_finite_number(T x) {
  return x - x == T(0);
}

/// True if a run has no infinity and no NaN.
template <class T>
bool is_finite_run(T const* x, std::int64_t n) {
  return sum_of_run<true, T>(n, [=](std::int64_t i) { return x[i] - x[i]; }) == T(0);
}

template <class T>
struct repair_sum {
  weighted_sums<T> in;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    std::int64_t at[3];
    in.sums.locate(i, at);
    T& s = in.sum[at[2]];
    if (!is_finite_number(s)) s = in.of(at);
  }
};

template <class T>
struct add_sum {
  weighted_sums<T> in;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    std::int64_t at[3];
    in.sums.locate(i, at);
    in.sum[at[2]] += in.of(at);
  }
};

}  // namespace detail

/// Sums that are infinite or NaN <- the sums of their terms whose weight is not 0. On the host, it returns when the
/// sums are written.
template <class Exec, class T>
[[gnu::cold]] void repair_sums(Exec const& exec, weighted_sums<T> const& in) {
  std::int64_t const n = in.sums.size();
  for_each_item("ostraka sums of what is seen", exec, n, n * in.terms.size(), detail::repair_sum<T>{in});
}

/// True if a block on the host has no infinity and no NaN, or if operations are only priced.
template <class Exec, class T>
bool is_finite_block(Exec const& exec, loop_nest<1> loops, T const* x) {
  loops.merge();
  std::int64_t const n = loops.size();
  if (n == 0 || !computes()) return true;
  char const* const name = "ostraka look for NaN";
  int const inner = loops.rank - 1;
  if (inner < 0) return detail::is_finite_number(*x);
  loop_nest<1> const outer = loops.without(inner);
  std::int64_t const run = loops.extent[inner], step = loops.stride[0][inner], tasks = outer.size();
  std::int64_t const most = (n + serial_elements - 1) / serial_elements, shares = std::min(most, tasks);
  std::atomic<bool> all{true};
  if (inner == 0 && step == 1) {
    for_each_share(name, exec, n, most, n, [&](std::int64_t begin, std::int64_t end, std::int64_t) {
      if (!detail::is_finite_run(x + begin, end - begin)) all = false;
    });
    return all;
  }
    for_each_share(name, exec, tasks, shares, n, [&](std::int64_t begin, std::int64_t end, std::int64_t) {
      bool finite = true;
      for (loop_walker<1> at(outer, begin); begin < end && finite; ++begin, at.next()) {
        T const* const from = x + at.offset[0];
        if (step == 1)
          finite = detail::is_finite_run(from, run);
        else
          for (std::int64_t i = 0; i < run; ++i) finite = finite && detail::is_finite_number(from[i * step]);
      }
      if (!finite) all = false;
    });
    return all;
}

/// Adds to each sum its terms whose weight is not 0.
template <class Exec, class T>
[[gnu::cold]] void add_sums(Exec const& exec, weighted_sums<T> const& in) {
  std::int64_t const n = in.sums.size();
  for_each_item("ostraka sums of what is seen", exec, n, n * in.terms.size(), detail::add_sum<T>{in});
}

}  // namespace ostraka::engine
