// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Accumulators (accumulator.hpp) that sum a number for each element: its square, or 1 if it is not zero.

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <limits>
#include <type_traits>

#include <ostraka/engine/kernels/accumulators/accumulator.hpp>
#include <ostraka/engine/kernels/accumulators/moments.hpp>
#include <ostraka/engine/kernels/combine.hpp>
#include <ostraka/engine/kernels/loops/independent.hpp>
#include <ostraka/engine/kernels/loops/lanes.hpp>

namespace ostraka::engine {

/// Σ|x|² in double, where squares of floats neither overflow nor vanish.
struct square_of {
  using sum = double;
  template <class T>
  KOKKOS_INLINE_FUNCTION static double term(T const& x) {
    auto const v = detail::widened(x);
    return detail::real_product(v, v);
  }
};

/// The number of nonzero elements; a NaN is not zero.
struct one_if_nonzero {
  using sum = std::int64_t;
  template <class T>
  KOKKOS_INLINE_FUNCTION static std::int64_t term(T const& x) {
    return accumulator_of_t<T>(x) != accumulator_of_t<T>(0) ? 1 : 0;
  }
};

template <class Term, class Element>
struct sum_of {
  using element = Element;
  using state = typename Term::sum;
  struct row {
    state sums[accumulated_rows<Element>];
  };

  KOKKOS_INLINE_FUNCTION static state start() { return state(0); }
  KOKKOS_INLINE_FUNCTION static void take(state& s, element const& x, std::int64_t) { s += Term::term(x); }
  KOKKOS_INLINE_FUNCTION static state combined(state const& a, state const& b) { return a + b; }

  static void along(state& s, element const* x, std::int64_t n, std::int64_t, std::int64_t) {
    constexpr int lanes = accumulated_lanes;
    state part[lanes] = {};
    std::int64_t k = 0;
    for (; k + lanes <= n; k += lanes)
      for (int l = 0; l < lanes; ++l) part[l] += Term::term(x[k + l]);
    state rest(0);
    for (; k < n; ++k) rest += Term::term(x[k]);
    s += detail::sum_of_lanes<lanes>(part) + rest;
  }

  template <int Steps>
  static void across(row& r, std::int64_t first, element const* x, std::int64_t next, std::int64_t n,
                     std::int64_t steps) {
    state* __restrict const sums = r.sums + first;
    element const* __restrict const from = x;
    if (steps == 0)
      for (std::int64_t i = 0; i < n; ++i) sums[i] = 0;
    for_each_independent(n, [=](std::int64_t i) {
      state s = sums[i];
      for (int k = 0; k < Steps; ++k) s += Term::term(from[k * next + i]);
      sums[i] = s;
    });
  }
  template <class IndexOf>
  static state at(row const& r, std::int64_t i, IndexOf const&) {
    return r.sums[i];
  }
};

}  // namespace ostraka::engine
