// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Comparisons element by element, equal, not_equal, less, less_equal, greater, greater_equal, of tensors and
/// of a tensor and a number: A[I_X] < B[I_X, J] is a tensor of bools [I_X, J]. Bools are combined by logical_and,
/// logical_or, logical_not. Operands are matched as in os::map; numbers follow the rules of arithmetic.hpp. A number
/// compared with NaN is not equal to it, and neither less nor greater.
///
///     logical_and     keeps parts by "and"         logical_not     turns parts by "and" into parts by "or", and back
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

template <class Operation, class T>
consteval auto check_bools() {
  if constexpr (std::is_same_v<T, bool>)
    return found<reason::ok>{};
  else
    return found<reason::logic_of_numbers<T, Operation>>{};
}

template <class Operation, class T>
using bools_verdict = typename decltype(check_bools<Operation, T>())::type;

// The family of comparisons.
struct of_comparable {
  template <class>
  using result = bool;
  template <class F, class>
  using keeper = F;
  template <class Operation, class... Operands>
  using verdict = first_fault<elements_verdict<Operands...>,
                              comparable_verdict<Operation, typename nth<0, Operands...>::type::value_type>>;
};

// The family of logical operations.
struct of_bools {
  template <class>
  using result = bool;
  template <class F, class>
  using keeper = F;
  template <class Operation, class... Operands>
  using verdict = first_fault<bools_verdict<Operation, typename Operands::value_type>...>;
};

}  // namespace detail

template <>
inline constexpr preservation preserves<detail::are_both, reduction::bit_and>{reduction::bit_and, {}};
template <>
inline constexpr preservation preserves<detail::is_either, reduction::bit_or>{reduction::bit_or, {}};
template <>
inline constexpr preservation preserves<detail::is_not, reduction::bit_and>{reduction::bit_or, {}};
template <>
inline constexpr preservation preserves<detail::is_not, reduction::bit_or>{reduction::bit_and, {}};

namespace operation {

struct equal : detail::element_operation<equal, detail::is_equal, detail::of_comparable> {
  static constexpr char const* name = "equal";
};
struct not_equal : detail::element_operation<not_equal, detail::is_not_equal, detail::of_comparable> {
  static constexpr char const* name = "not_equal";
};
struct less : detail::element_operation<less, detail::is_less, detail::of_comparable> {
  static constexpr char const* name = "less";
};
struct less_equal : detail::element_operation<less_equal, detail::is_less_equal, detail::of_comparable> {
  static constexpr char const* name = "less_equal";
};
struct greater : detail::element_operation<greater, detail::is_greater, detail::of_comparable> {
  static constexpr char const* name = "greater";
};
struct greater_equal : detail::element_operation<greater_equal, detail::is_greater_equal, detail::of_comparable> {
  static constexpr char const* name = "greater_equal";
};
struct logical_and : detail::element_operation<logical_and, detail::are_both, detail::of_bools> {
  static constexpr char const* name = "logical_and";
};
struct logical_or : detail::element_operation<logical_or, detail::is_either, detail::of_bools> {
  static constexpr char const* name = "logical_or";
};
struct logical_not : detail::element_operation<logical_not, detail::is_not, detail::of_bools> {
  static constexpr char const* name = "logical_not";
};

}  // namespace operation

/// A == B, element by element: bools. Also for complex numbers, and for bools.
template <class A, class B>
  requires ArithmeticOperands<A, B>
[[nodiscard]] constexpr auto equal(A const& a, B const& b) {
  return detail::operate(operation::equal{}, a, b);
}

/// A != B; NaN differs from everything.
template <class A, class B>
  requires ArithmeticOperands<A, B>
[[nodiscard]] constexpr auto not_equal(A const& a, B const& b) {
  return detail::operate(operation::not_equal{}, a, b);
}

/// A < B
template <class A, class B>
  requires ArithmeticOperands<A, B>
[[nodiscard]] constexpr auto less(A const& a, B const& b) {
  return detail::operate(operation::less{}, a, b);
}

/// A <= B
template <class A, class B>
  requires ArithmeticOperands<A, B>
[[nodiscard]] constexpr auto less_equal(A const& a, B const& b) {
  return detail::operate(operation::less_equal{}, a, b);
}

/// A > B
template <class A, class B>
  requires ArithmeticOperands<A, B>
[[nodiscard]] constexpr auto greater(A const& a, B const& b) {
  return detail::operate(operation::greater{}, a, b);
}

/// A >= B
template <class A, class B>
  requires ArithmeticOperands<A, B>
[[nodiscard]] constexpr auto greater_equal(A const& a, B const& b) {
  return detail::operate(operation::greater_equal{}, a, b);
}

/// True where both elements are true, for tensors of bools.
template <TensorOrVariable A, TensorOrVariable B>
[[nodiscard]] constexpr auto logical_and(A const& a, B const& b) {
  return detail::operate(operation::logical_and{}, a, b);
}

/// True where at least one element is true, for tensors of bools.
template <TensorOrVariable A, TensorOrVariable B>
[[nodiscard]] constexpr auto logical_or(A const& a, B const& b) {
  return detail::operate(operation::logical_or{}, a, b);
}

/// True where the element is false, for a tensor of bools.
template <TensorOrVariable A>
[[nodiscard]] constexpr auto logical_not(A const& a) {
  return detail::operate(operation::logical_not{}, a);
}

}  // namespace ostraka
