// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Choices between elements of variables: os::maximum and os::minimum, os::where, os::cast; and comparisons,
/// whose bools are constants. If two elements are equal, each gets half of the cotangent of their maximum, as in JAX. A
/// cast's cotangent is cast back, and moves in the narrower of the two types; for a cast to complex it is the real
/// part.

#include <type_traits>

#include <ostraka/elements/cast.hpp>
#include <ostraka/elements/where.hpp>
#include <ostraka/gradient/rules/elements/derivative_of_functions.hpp>

namespace ostraka {

namespace detail {

/// The rule of the larger or the smaller of two elements.
template <reduction How>
struct derivative_of_extreme {
  template <int K, class T>
  KOKKOS_INLINE_FUNCTION T derivative(T const& a, T const& b) const {
    bool const is_first = How == reduction::max ? a > b : a < b, is_second = How == reduction::max ? b > a : b < a;
    return (K == 0 ? is_first : is_second) ? T(1.0f) : a == b ? T(0.5f) : T(0.0f);
  }
  template <int K, int L, class T>
  KOKKOS_INLINE_FUNCTION T second_derivative(T const&, T const&) const {
    return T(0.0f);
  }
};

template <reduction How>
struct extreme_rule {
  template <class Operation, class Result, class A, class B>
  static constexpr auto pullback(Operation const&, Result const&, A const& a, B const& b) {
    return pullback_of_two(derivative_of_extreme<How>{}, a, b);
  }
};

template <class Condition>
struct where_pullback {
  kept<true, Condition> condition;

  template <int K, class Wanted, class G>
  constexpr Wanted pull(G const& g) const {
    if constexpr (K == 1)
      return summed_to<Wanted>(ostraka::where(condition.get(), g, 0.0));
    else
      return summed_to<Wanted>(ostraka::where(condition.get(), 0.0, g));
  }
};

struct cast_pullback {
  template <int, class Wanted, class G>
  constexpr Wanted pull(G const& g) const {
    using back = typename Wanted::value_type;
    if constexpr (sizeof(back) < sizeof(typename G::value_type))
      return summed_to<Wanted>(projected<back>(g));
    else
      return projected<back>(reshard_as<sharding_in<Wanted>>(g));
  }
};

// The sharding of the operand's cotangents with the result's elements, so that a gather or a reduction after a cast
// moves these elements. Partial cotangents are passed on if they can be cast back; the real part of a partial sum is a
// partial sum.
template <class Result, class A>
struct cast_cotangent {
  using type = cotangent_of<Result>;
};
template <class Result, class T, class U, class Sharding, class Space>
  requires(sharding_traits<Sharding>::partials::size == 0 || is_exact<real_of<typename Result::value_type>, real_of<U>>)
struct cast_cotangent<Result, variable<T, basic_tensor<U, Sharding, Space>>> {
  using type = basic_tensor<typename Result::value_type, Sharding, Space>;
};

}  // namespace detail

template <>
struct derivative_of<operation::maximum> : detail::extreme_rule<reduction::max> {};
template <>
struct derivative_of<operation::minimum> : detail::extreme_rule<reduction::min> {};

template <>
struct derivative_of<operation::where> {
  template <class Result, class C, class A, class B>
  static constexpr auto pullback(operation::where, Result const&, C const& condition, A const&, B const&) {
    return detail::where_pullback<C>{detail::remember(condition)};
  }
};

template <class To>
struct derivative_of<operation::cast<To>> {
  template <class Result, class A>
  using operand_cotangent = typename detail::cast_cotangent<Result, A>::type;
  template <class Result, class A>
  static constexpr auto pullback(operation::cast<To>, Result const&, A const&) {
    return detail::cast_pullback{};
  }
};

}  // namespace ostraka
