// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Comparisons element by element, equal, not_equal, less, less_equal, greater, greater_equal, of tensors and
/// of a tensor and a number: A[I_X] < B[I_X, J] is a tensor of bools [I_X, J]; and what bools are combined by,
/// logical_and, logical_or, logical_not. Operands meet as in os::map, numbers are those of arithmetic.hpp. A
/// number compared with NaN is not equal to it, and neither less nor greater.
///
///     logical_and     keeps parts by "and"         logical_not     makes those by "or" of them, and the other way
///     logical_or      keeps parts by "or"

#include <ostraka/elements/arithmetic.hpp>

namespace ostraka {

namespace detail {

struct is_equal {
  template <class T>
  KOKKOS_INLINE_FUNCTION bool operator()(T const& a, T const& b) const noexcept {
    return a == b;
  }
};

struct is_not_equal {
  template <class T>
  KOKKOS_INLINE_FUNCTION bool operator()(T const& a, T const& b) const noexcept {
    return !(a == b);
  }
};

struct is_less {
  template <class T>
  KOKKOS_INLINE_FUNCTION bool operator()(T const& a, T const& b) const noexcept {
    return a < b;
  }
};

struct is_less_equal {
  template <class T>
  KOKKOS_INLINE_FUNCTION bool operator()(T const& a, T const& b) const noexcept {
    return a <= b;
  }
};

struct is_greater {
  template <class T>
  KOKKOS_INLINE_FUNCTION bool operator()(T const& a, T const& b) const noexcept {
    return a > b;
  }
};

struct is_greater_equal {
  template <class T>
  KOKKOS_INLINE_FUNCTION bool operator()(T const& a, T const& b) const noexcept {
    return a >= b;
  }
};

struct are_both {
  KOKKOS_INLINE_FUNCTION bool operator()(bool a, bool b) const noexcept { return a && b; }
};

struct is_either {
  KOKKOS_INLINE_FUNCTION bool operator()(bool a, bool b) const noexcept { return a || b; }
};

struct is_not {
  KOKKOS_INLINE_FUNCTION bool operator()(bool a) const noexcept { return !a; }
};

template <class Operation, class T>
consteval auto check_comparable() {
  constexpr bool wants_order = !is_one_of<Operation, operation::equal, operation::not_equal>;
  if constexpr (wants_order && !engine::is_ordered<T>)
    return found<reason::complex_numbers_compared<Operation>>{};
  else
    return found<reason::ok>{};
}

template <class Operation, class T>
using comparable_verdict = typename decltype(check_comparable<Operation, T>())::type;

template <int At, class Operation, class F, class A, class Number>
auto compare_with_number(char const* name, F const& f, A const& a, Number const& number) {
  using value = typename A::value_type;
  with_number<F, value, At> with{f, {}};
  if constexpr (is_number_among<Number, value>) with.number = as_element<value>(name, number);
  return checked_map<Operation, with_number<F, value, At>,
                     first_fault<number_verdict<Number, value>, comparable_verdict<Operation, value>>, bool>(name, with,
                                                                                                             a);
}

// Of two tensors, or of a tensor and a number on either side.
template <class Operation, class F, class A, class B>
auto compare(char const* name, F const& f, A const& a, B const& b) {
  if constexpr (!Tensor<B>)
    return compare_with_number<0, Operation>(name, f, a, b);
  else if constexpr (!Tensor<A>)
    return compare_with_number<1, Operation>(name, f, b, a);
  else
    return checked_map<
        Operation, F, first_fault<elements_verdict<A, B>, comparable_verdict<Operation, typename A::value_type>>, bool>(
        name, f, a, b);
}

template <class Operation, class T>
consteval auto check_bools() {
  if constexpr (std::is_same_v<T, bool>)
    return found<reason::ok>{};
  else
    return found<reason::logic_of_numbers<T, Operation>>{};
}

template <class Operation, class T>
using bools_verdict = typename decltype(check_bools<Operation, T>())::type;

template <class Operation, class F, class First, class... Rest>
auto combine_bools(char const* name, F const& f, First const& first, Rest const&... rest) {
  return checked_map<Operation, F,
                     first_fault<bools_verdict<Operation, typename First::value_type>,
                                 bools_verdict<Operation, typename Rest::value_type>...>,
                     bool>(name, f, first, rest...);
}

}  // namespace detail

template <>
inline constexpr preservation preserves<detail::are_both, reduction::bit_and>{reduction::bit_and, {}};
template <>
inline constexpr preservation preserves<detail::is_either, reduction::bit_or>{reduction::bit_or, {}};
template <>
inline constexpr preservation preserves<detail::is_not, reduction::bit_and>{reduction::bit_or, {}};
template <>
inline constexpr preservation preserves<detail::is_not, reduction::bit_or>{reduction::bit_and, {}};

/// A == B, element by element: bools. Also of complex numbers, and of bools.
template <class A, class B>
  requires ArithmeticOperands<A, B>
[[nodiscard]] auto equal(A const& a, B const& b) {
  return detail::compare<operation::equal>("equal", detail::is_equal{}, a, b);
}

/// A != B; NaN differs from everything.
template <class A, class B>
  requires ArithmeticOperands<A, B>
[[nodiscard]] auto not_equal(A const& a, B const& b) {
  return detail::compare<operation::not_equal>("not_equal", detail::is_not_equal{}, a, b);
}

/// A < B
template <class A, class B>
  requires ArithmeticOperands<A, B>
[[nodiscard]] auto less(A const& a, B const& b) {
  return detail::compare<operation::less>("less", detail::is_less{}, a, b);
}

/// A <= B
template <class A, class B>
  requires ArithmeticOperands<A, B>
[[nodiscard]] auto less_equal(A const& a, B const& b) {
  return detail::compare<operation::less_equal>("less_equal", detail::is_less_equal{}, a, b);
}

/// A > B
template <class A, class B>
  requires ArithmeticOperands<A, B>
[[nodiscard]] auto greater(A const& a, B const& b) {
  return detail::compare<operation::greater>("greater", detail::is_greater{}, a, b);
}

/// A >= B
template <class A, class B>
  requires ArithmeticOperands<A, B>
[[nodiscard]] auto greater_equal(A const& a, B const& b) {
  return detail::compare<operation::greater_equal>("greater_equal", detail::is_greater_equal{}, a, b);
}

/// Both, of tensors of bools.
template <Tensor A, Tensor B>
[[nodiscard]] auto logical_and(A const& a, B const& b) {
  return detail::combine_bools<operation::logical_and>("logical_and", detail::are_both{}, a, b);
}

/// Either or both, of tensors of bools.
template <Tensor A, Tensor B>
[[nodiscard]] auto logical_or(A const& a, B const& b) {
  return detail::combine_bools<operation::logical_or>("logical_or", detail::is_either{}, a, b);
}

/// The opposite, of a tensor of bools.
template <Tensor A>
[[nodiscard]] auto logical_not(A const& a) {
  return detail::combine_bools<operation::logical_not>("logical_not", detail::is_not{}, a);
}

}  // namespace ostraka
