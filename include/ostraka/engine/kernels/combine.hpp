// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The operations of reductions on values, on devices and between them. The operation is a run-time value, so
/// kernels are not instantiated per operation. A[I_X, J] summed over I: {U_X} with `sum`; other operations use the same
/// notation.

#include <Kokkos_Core.hpp>

#include <limits>
#include <type_traits>

#include <ostraka/types/support/error.hpp>
#include <ostraka/types/values/half.hpp>
#include <ostraka/types/values/reduction.hpp>

namespace ostraka::engine {

using ostraka::reduction;

/// True if T has an order; complex numbers can be summed and multiplied only.
template <class T>
inline constexpr bool is_ordered = std::is_arithmetic_v<T> || is_narrow<T>;

/// True for integers narrower than those that processors compute with.
template <class T>
inline constexpr bool is_small_integer = std::is_integral_v<T> && sizeof(T) < 4;

/// True if T can be reduced this way: max and min need an order, the bitwise operations integers. Bools, which are
/// integers of one bit, have no sums and products.
template <class T>
[[nodiscard]] constexpr bool is_reducible(reduction how) {
  switch (how) {
    case reduction::sum:
    case reduction::prod: return !std::is_same_v<T, bool>;
    case reduction::max:
    case reduction::min: return is_ordered<T>;
    case reduction::bit_and:
    case reduction::bit_or: return std::is_integral_v<T>;
  }
  return false;
}

/// Throws unless T can be reduced this way. The entry points call it, so that kernels need not check.
template <class T>
void require_reducible(reduction how) {
  if (is_reducible<T>(how)) return;
  if (std::is_same_v<T, bool>)
    throw_error("reduce: bools are neither summed nor multiplied; convert them to integers first");
  if (how == reduction::max || how == reduction::min)
    throw_error(
        "reduce: complex numbers have no order, so they have no maximum or minimum; reduce their absolute values");
  throw_error("reduce: only integers are reduced bit by bit; compare the values first, as in A > 0");
}

/// Returns the identity of the operation: combine(how, identity<T>(how), x) == x.
template <class T>
T identity(reduction how) {
  if constexpr (is_ordered<T>) {
    using limits = std::numeric_limits<T>;
    if (how == reduction::max) return limits::has_infinity ? -limits::infinity() : limits::lowest();
    if (how == reduction::min) return limits::has_infinity ? limits::infinity() : limits::max();
  }
  if constexpr (std::is_integral_v<T>)
    if (how == reduction::bit_and) return std::is_same_v<T, bool> ? T(1) : T(-1);
  return how == reduction::prod ? T(1) : T(0);
}

/// One step of the reduction. It keeps a NaN on either side, since a maximum that hides NaN would depend on the order
/// of the devices.
template <class T>
KOKKOS_INLINE_FUNCTION T combine(reduction how, T const& x, T const& y) {
  if constexpr (is_ordered<T>) {
    if (how == reduction::max) return (y > x || y != y) ? y : x;
    if (how == reduction::min) return (y < x || y != y) ? y : x;
  }
  if constexpr (std::is_integral_v<T>) {
    if (how == reduction::bit_and) return static_cast<T>(x & y);
    if (how == reduction::bit_or) return static_cast<T>(x | y);
  }
  return how == reduction::prod ? T(x * y) : T(x + y);
}

namespace detail {

template <reduction How, class T>
KOKKOS_INLINE_FUNCTION void combine_run_by(T* into, T const* from, long long count) {
  for (long long i = 0; i < count; ++i) into[i] = combine(How, into[i], from[i]);
}

}  // namespace detail

/// into[i] = combine(how, into[i], from[i]). Chooses the operation outside the loop, so that the loops vectorise.
template <class T>
KOKKOS_INLINE_FUNCTION void combine_run(reduction how, T* into, T const* from, long long count) {
  if constexpr (is_ordered<T>) {
    if (how == reduction::max) return detail::combine_run_by<reduction::max>(into, from, count);
    if (how == reduction::min) return detail::combine_run_by<reduction::min>(into, from, count);
  }
  if constexpr (std::is_integral_v<T>) {
    if (how == reduction::bit_and) return detail::combine_run_by<reduction::bit_and>(into, from, count);
    if (how == reduction::bit_or) return detail::combine_run_by<reduction::bit_or>(into, from, count);
  }
  if (how == reduction::prod) return detail::combine_run_by<reduction::prod>(into, from, count);
  detail::combine_run_by<reduction::sum>(into, from, count);
}

}  // namespace ostraka::engine
