// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The associative operations that devices and local kernels reduce with, as a value: kernels are not instantiated per operation.
/// A[I_X, J] summed over I: {U_X} with `sum`; the same letters for max and min.

#include <Kokkos_Core.hpp>

#include <limits>
#include <type_traits>

#include <ostraka/types/error.hpp>

namespace ostraka::engine {

/// How values that meet are made one.
enum class reduction { sum, max, min };

/// Whether T has an order; complex numbers can be summed only.
template <class T>
inline constexpr bool is_ordered = std::is_arithmetic_v<T>;

/// Throws unless T can be reduced this way. Called by the entry points, so that kernels need not ask.
template <class T>
void require_reducible(reduction how) {
  if (!is_ordered<T> && how != reduction::sum)
    throw error("reduce: complex numbers have no order, so they have no maximum or minimum; reduce their absolute values");
}

/// The value that changes nothing: combine(how, identity<T>(how), x) == x.
template <class T>
T identity(reduction how) {
  if constexpr (is_ordered<T>) {
    using limits = std::numeric_limits<T>;
    if (how == reduction::max) return limits::has_infinity ? -limits::infinity() : limits::lowest();
    if (how == reduction::min) return limits::has_infinity ? limits::infinity() : limits::max();
  }
  return T(0);
}

/// One step of the reduction. A NaN on either side stays: a maximum that hides one would depend on the order of the devices.
template <class T>
KOKKOS_INLINE_FUNCTION T combine(reduction how, T const& x, T const& y) {
  if constexpr (is_ordered<T>) {
    if (how == reduction::max) return (y > x || y != y) ? y : x;
    if (how == reduction::min) return (y < x || y != y) ? y : x;
  }
  return x + y;
}

/// into[i] = combine(how, into[i], from[i]), with the choice of the operation outside the loop so that the loops vectorise.
template <class T>
KOKKOS_INLINE_FUNCTION void combine_run(reduction how, T* into, T const* from, long long count) {
  if constexpr (is_ordered<T>) {
    if (how == reduction::max) {
      for (long long i = 0; i < count; ++i) into[i] = combine(reduction::max, into[i], from[i]);
      return;
    }
    if (how == reduction::min) {
      for (long long i = 0; i < count; ++i) into[i] = combine(reduction::min, into[i], from[i]);
      return;
    }
  }
  for (long long i = 0; i < count; ++i) into[i] += from[i];
}

}  // namespace ostraka::engine
