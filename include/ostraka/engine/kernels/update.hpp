// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. How what was computed comes into a block that may hold something already: C <- alpha x + beta C, as BLAS
/// understands it.

#include <Kokkos_Core.hpp>

#include <cstdint>

#include <ostraka/engine/kernels/copy.hpp>
#include <ostraka/engine/kernels/elementwise.hpp>
#include <ostraka/types/half.hpp>

namespace ostraka::engine {

/// c <- alpha x + beta c. With beta = 0, c is not read, with alpha = 0, x is not: what is not read may be NaN, or
/// nothing yet. Elements of 16 bits are computed with as floats, as which x may come, and rounded once.
template <class T>
struct update {
  using wide = accumulator_of_t<T>;

  wide alpha = wide(1);
  wide beta = wide(0);

  /// Is it c <- x?
  KOKKOS_INLINE_FUNCTION bool overwrites() const { return alpha == wide(1) && beta == wide(0); }

  /// Neither factor is 0, so that all elements are treated alike: what asks for every element does not vectorise.
  KOKKOS_INLINE_FUNCTION bool reads_both() const { return alpha != wide(0) && beta != wide(0); }

  template <class Summed>
  KOKKOS_INLINE_FUNCTION T operator()(T const& c, Summed const& x) const {
    if (beta == wide(0)) return alpha == wide(0) ? T(wide(0)) : alpha == wide(1) ? T(x) : T(alpha * x);
    wide const kept = beta == wide(1) ? wide(c) : beta * c;
    return T(alpha == wide(0) ? kept : alpha == wide(1) ? x + kept : alpha * x + kept);
  }

  /// A run of neighbours; what is asked of every element of it is asked once.
  template <class Summed>
  KOKKOS_INLINE_FUNCTION void write(T* c, std::int64_t step, Summed const* x, std::int64_t count) const {
    if (overwrites()) {
      if (step == 1)
        for (std::int64_t i = 0; i < count; ++i) c[i] = T(x[i]);
      else
        for (std::int64_t i = 0; i < count; ++i) c[i * step] = T(x[i]);
    } else if (reads_both()) {
      for (std::int64_t i = 0; i < count; ++i) c[i * step] = T(alpha * x[i] + beta * c[i * step]);
    } else {
      for (std::int64_t i = 0; i < count; ++i) c[i * step] = (*this)(c[i * step], x[i]);
    }
  }
};

namespace detail {

template <class T>
struct scale_by {
  accumulator_of_t<T> factor;
  KOKKOS_INLINE_FUNCTION T operator()(T const& c) const { return T(factor * c); }
};

/// c <- alpha x + beta c where both are read.
template <class T>
struct add_scaled {
  accumulator_of_t<T> alpha, beta;
  KOKKOS_INLINE_FUNCTION T operator()(T const& c, T const& x) const { return T(alpha * x + beta * c); }
};
template <class T>
inline constexpr bool is_worth_squares<add_scaled<T>> = true;

}  // namespace detail

/// c <- beta c
template <class Exec, class T>
void scale(Exec const& exec, T* c, strided const& layout, accumulator_of_t<T> beta) {
  using wide = accumulator_of_t<T>;
  if (beta == wide(1)) return;
  if (beta == wide(0)) return fill(exec, c, layout, T(0));
  loop_nest<2> loops;
  for (int d = 0; d < layout.rank; ++d) loops.add(layout.extent[d], layout.stride[d], layout.stride[d]);
  map_elements(exec, loops, detail::scale_by<T>{beta}, c, static_cast<T const*>(c));
}

/// c <- alpha x + beta c for two blocks of the same extents that do not overlap.
template <class Exec, class T>
void copy(Exec const& exec, T* c, strided const& c_layout, T const* x, strided const& x_layout, update<T> const& how) {
  if (how.overwrites()) return copy(exec, c, c_layout, x, x_layout);
  if (how.alpha == accumulator_of_t<T>(0)) return scale(exec, c, c_layout, how.beta);
  if (how.beta == accumulator_of_t<T>(0)) {
    loop_nest<2> loops;
    for (int d = 0; d < c_layout.rank; ++d) loops.add(c_layout.extent[d], c_layout.stride[d], x_layout.stride[d]);
    map_elements(exec, loops, detail::scale_by<T>{how.alpha}, c, x);
    return;
  }
  loop_nest<3> loops;
  for (int d = 0; d < c_layout.rank; ++d)
    loops.add(c_layout.extent[d], c_layout.stride[d], c_layout.stride[d], x_layout.stride[d]);
  map_elements(exec, loops, detail::add_scaled<T>{how.alpha, how.beta}, c, static_cast<T const*>(c), x);
}

}  // namespace ostraka::engine
