// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Applies an update to a block: C <- beta C, and C <- alpha X + beta C.

#include <Kokkos_Core.hpp>

#include <cstdint>

#include <ostraka/engine/kernels/copy_strided.hpp>
#include <ostraka/engine/kernels/elementwise.hpp>
#include <ostraka/engine/kernels/loops/independent.hpp>
#include <ostraka/engine/kernels/scaled_update.hpp>

namespace ostraka::engine {

namespace detail {

/// c <- alpha x + beta c, alpha not 0. With beta = 0, c is not read.
template <class T>
struct add_scaled {
  using wide = accumulator_of_t<T>;
  wide alpha, beta;

  KOKKOS_INLINE_FUNCTION T operator()(T const& c, T const& x) const {
    return beta == wide(0) ? T(alpha * x) : T(alpha * x + beta * c);
  }
  /// Updates runs of neighbours, with local factors that the writes cannot change, so that the loops vectorise.
  void of_neighbours(std::int64_t count, T* to, T const* c, T const* x) const {
    wide const a = alpha, b = beta;
    if (b == wide(0)) {
      for_each_independent(count, [=](std::int64_t i) { to[i] = T(a * x[i]); });
    } else {
      for_each_independent(count, [=](std::int64_t i) { to[i] = T(a * x[i] + b * c[i]); });
    }
  }
};

}  // namespace detail

template <class Exec, class T>
void copy(Exec const& exec, T* c, strided const& c_layout, T const* x, strided const& x_layout, update<T> const& how);

/// c <- beta c
template <class Exec, class T>
void scale(Exec const& exec, T* c, strided const& layout, accumulator_of_t<T> beta) {
  using wide = accumulator_of_t<T>;
  if (beta == wide(1)) return;
  if (beta == wide(0)) return fill(exec, c, layout, T(0));
  copy(exec, c, layout, static_cast<T const*>(c), layout, update<T>{beta, wide(0)});
}

/// c <- alpha x + beta c for two blocks of the same extents that are the same or do not overlap.
template <class Exec, class T>
void copy(Exec const& exec, T* c, strided const& c_layout, T const* x, strided const& x_layout, update<T> const& how) {
  if (how.overwrites()) return copy(exec, c, c_layout, x, x_layout);
  if (how.alpha == accumulator_of_t<T>(0)) return scale(exec, c, c_layout, how.beta);
  map_elements(exec, loops_along(c_layout, c_layout, x_layout), detail::add_scaled<T>{how.alpha, how.beta}, c,
               static_cast<T const*>(c), x);
}

}  // namespace ostraka::engine
