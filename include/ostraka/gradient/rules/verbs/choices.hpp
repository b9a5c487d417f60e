// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Choices between elements of variables: os::maximum and os::minimum, os::where, os::cast; and comparisons,
/// whose bools are constants. Of equal elements each has half of the cotangent of their maximum, as in JAX. A cast's
/// cotangent is cast back, and moves as the narrower of the two; of what became complex it is the real part.

#include <type_traits>

#include <ostraka/elements/cast.hpp>
#include <ostraka/elements/where.hpp>
#include <ostraka/gradient/rules/operations/functions.hpp>

namespace ostraka {

template <class A, class B>
  requires detail::VariableMeets<A, B>
constexpr auto maximum(A const& a, B const& b);
template <class A, class B>
  requires detail::VariableMeets<A, B>
constexpr auto minimum(A const& a, B const& b);
template <class A, class B>
  requires detail::VariableMeets<A, B>
constexpr auto equal(A const& a, B const& b);
template <class A, class B>
  requires detail::VariableMeets<A, B>
constexpr auto not_equal(A const& a, B const& b);
template <class A, class B>
  requires detail::VariableMeets<A, B>
constexpr auto less(A const& a, B const& b);
template <class A, class B>
  requires detail::VariableMeets<A, B>
constexpr auto less_equal(A const& a, B const& b);
template <class A, class B>
  requires detail::VariableMeets<A, B>
constexpr auto greater(A const& a, B const& b);
template <class A, class B>
  requires detail::VariableMeets<A, B>
constexpr auto greater_equal(A const& a, B const& b);
template <TensorOrVariable C, class A, class B>
  requires any_variable<C, A, B>
constexpr auto where(C const& condition, A const& a, B const& b);
template <class To, Variable A>
constexpr auto cast(A const& a);

namespace verbs {

struct maximum {
  using is_verb = void;
  static constexpr char const* name = "maximum";
  template <class A, class B>
  constexpr auto operator()(A const& a, B const& b) const {
    return ostraka::maximum(a, b);
  }
};

struct minimum {
  using is_verb = void;
  static constexpr char const* name = "minimum";
  template <class A, class B>
  constexpr auto operator()(A const& a, B const& b) const {
    return ostraka::minimum(a, b);
  }
};

struct equal {
  using is_verb = void;
  template <class A, class B>
  constexpr auto operator()(A const& a, B const& b) const {
    return ostraka::equal(a, b);
  }
};

struct not_equal {
  using is_verb = void;
  template <class A, class B>
  constexpr auto operator()(A const& a, B const& b) const {
    return ostraka::not_equal(a, b);
  }
};

struct less {
  using is_verb = void;
  template <class A, class B>
  constexpr auto operator()(A const& a, B const& b) const {
    return ostraka::less(a, b);
  }
};

struct less_equal {
  using is_verb = void;
  template <class A, class B>
  constexpr auto operator()(A const& a, B const& b) const {
    return ostraka::less_equal(a, b);
  }
};

struct greater {
  using is_verb = void;
  template <class A, class B>
  constexpr auto operator()(A const& a, B const& b) const {
    return ostraka::greater(a, b);
  }
};

struct greater_equal {
  using is_verb = void;
  template <class A, class B>
  constexpr auto operator()(A const& a, B const& b) const {
    return ostraka::greater_equal(a, b);
  }
};

struct where {
  using is_verb = void;
  static constexpr char const* name = "where";
  template <class C, class A, class B>
  constexpr auto operator()(C const& condition, A const& a, B const& b) const {
    return ostraka::where(condition, a, b);
  }
};

template <class To>
struct cast {
  using is_verb = void;
  static constexpr char const* name = "cast";
  template <class A>
  constexpr auto operator()(A const& a) const {
    return ostraka::cast<To>(a);
  }
};

}  // namespace verbs

namespace detail {

/// The derivatives of the larger or the smaller of two.
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

// The sharding that the operand wants, in the result's elements, so that a gather or a reduction behind a cast moves
// these. Parts are handed on where they can be cast back, and real parts of sums are sums.
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
struct derivative_of<verbs::maximum> : detail::extreme_rule<reduction::max> {};
template <>
struct derivative_of<verbs::minimum> : detail::extreme_rule<reduction::min> {};

template <>
struct derivative_of<verbs::equal> : detail::locally_constant {};
template <>
struct derivative_of<verbs::not_equal> : detail::locally_constant {};
template <>
struct derivative_of<verbs::less> : detail::locally_constant {};
template <>
struct derivative_of<verbs::less_equal> : detail::locally_constant {};
template <>
struct derivative_of<verbs::greater> : detail::locally_constant {};
template <>
struct derivative_of<verbs::greater_equal> : detail::locally_constant {};

template <>
struct derivative_of<verbs::where> {
  template <class Result, class C, class A, class B>
  static constexpr auto pullback(verbs::where, Result const&, C const& condition, A const&, B const&) {
    return detail::where_pullback<C>{detail::remember(condition)};
  }
};

template <class To>
  requires(!detail::is_differentiable<typename detail::element<To>::type>)
struct derivative_of<verbs::cast<To>> : detail::locally_constant {};

template <class To>
struct derivative_of<verbs::cast<To>> {
  template <class Result, class A>
  using handed_on = typename detail::cast_cotangent<Result, A>::type;
  template <class Result, class A>
  static constexpr auto pullback(verbs::cast<To>, Result const&, A const&) {
    return detail::cast_pullback{};
  }
};

template <class A, class B>
  requires detail::VariableMeets<A, B>
[[nodiscard]] constexpr auto maximum(A const& a, B const& b) {
  return differentiate(verbs::maximum{}, a, b);
}
template <class A, class B>
  requires detail::VariableMeets<A, B>
[[nodiscard]] constexpr auto minimum(A const& a, B const& b) {
  return differentiate(verbs::minimum{}, a, b);
}

/// Either of A and B, or both, are variables.
template <TensorOrVariable C, class A, class B>
  requires any_variable<C, A, B>
[[nodiscard]] constexpr auto where(C const& condition, A const& a, B const& b) {
  return differentiate(verbs::where{}, condition, a, b);
}

/// What becomes whole numbers or bools is a constant.
template <class To, Variable A>
[[nodiscard]] constexpr auto cast(A const& a) {
  return differentiate(verbs::cast<To>{}, a);
}

template <class A, class B>
  requires detail::VariableMeets<A, B>
[[nodiscard]] constexpr auto equal(A const& a, B const& b) {
  return differentiate(verbs::equal{}, a, b);
}
template <class A, class B>
  requires detail::VariableMeets<A, B>
[[nodiscard]] constexpr auto not_equal(A const& a, B const& b) {
  return differentiate(verbs::not_equal{}, a, b);
}
template <class A, class B>
  requires detail::VariableMeets<A, B>
[[nodiscard]] constexpr auto less(A const& a, B const& b) {
  return differentiate(verbs::less{}, a, b);
}
template <class A, class B>
  requires detail::VariableMeets<A, B>
[[nodiscard]] constexpr auto less_equal(A const& a, B const& b) {
  return differentiate(verbs::less_equal{}, a, b);
}
template <class A, class B>
  requires detail::VariableMeets<A, B>
[[nodiscard]] constexpr auto greater(A const& a, B const& b) {
  return differentiate(verbs::greater{}, a, b);
}
template <class A, class B>
  requires detail::VariableMeets<A, B>
[[nodiscard]] constexpr auto greater_equal(A const& a, B const& b) {
  return differentiate(verbs::greater_equal{}, a, b);
}

template <class A, class B>
  requires detail::VariableMeets<A, B>
[[nodiscard]] constexpr auto operator==(A const& a, B const& b) {
  return equal(a, b);
}
template <class A, class B>
  requires detail::VariableMeets<A, B>
[[nodiscard]] constexpr auto operator!=(A const& a, B const& b) {
  return not_equal(a, b);
}
template <class A, class B>
  requires detail::VariableMeets<A, B>
[[nodiscard]] constexpr auto operator<(A const& a, B const& b) {
  return less(a, b);
}
template <class A, class B>
  requires detail::VariableMeets<A, B>
[[nodiscard]] constexpr auto operator<=(A const& a, B const& b) {
  return less_equal(a, b);
}
template <class A, class B>
  requires detail::VariableMeets<A, B>
[[nodiscard]] constexpr auto operator>(A const& a, B const& b) {
  return greater(a, b);
}
template <class A, class B>
  requires detail::VariableMeets<A, B>
[[nodiscard]] constexpr auto operator>=(A const& a, B const& b) {
  return greater_equal(a, b);
}

}  // namespace ostraka
