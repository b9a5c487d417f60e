// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Operations that are one function of corresponding elements, or of elements and a number: `A + B`, `A < 2`.
/// A struct describes a family of them: its rules for operands, the elements of its result, and the key with which
/// os::preserves is looked up for the function F on elements T:
///
///     struct of_numbers {
///       template <class T> using result = T;
///       template <class F, class T> using keeper = on<F, T>;
///       template <class Operation, class... Operands> using verdict = …;
///     };

#include <type_traits>

#include <ostraka/calls/numbers.hpp>
#include <ostraka/elements/map.hpp>

namespace ostraka {

namespace detail {

// F of elements and one number. The tensor is operand `At`.
template <class F, class T, int At>
struct with_number {
  F f;
  T number;
  KOKKOS_INLINE_FUNCTION auto operator()(T const& a) const noexcept {
    if constexpr (At == 0)
      return f(a, number);
    else
      return f(number, a);
  }
};

// The parts of one operand that an operation on two keeps if the other is the same on all devices. Equal parts of a
// maximum are kept, too.
constexpr preservation beside_number(preservation const& both, int at, reduction kind) {
  bool const equal_parts_combine_to_themselves = kind != reduction::sum && kind != reduction::prod;
  preservation p;
  p.together = equal_parts_combine_to_themselves && both.together.kept ? both.together : both.alone[at];
  return p;
}

// F on elements of type T, as a key for the trait.
template <class F, class T>
struct on {};

}  // namespace detail

template <class F, class T, int At, reduction Kind>
inline constexpr preservation preserves<detail::on<detail::with_number<F, T, At>, T>, Kind> =
    detail::beside_number(preserves<detail::on<F, T>, Kind>, At, Kind);

/// Two tensors, or one and a number. In derivatives, variables take the place of tensors.
template <class A, class B>
concept ArithmeticOperands = (TensorOrVariable<A> && (TensorOrVariable<B> || detail::is_number<B>)) ||
                             (detail::is_number<A> && TensorOrVariable<B>);

namespace detail {

template <class Operation, class Family, class F, class... Given>
struct element_call;

template <class Operation, class Family, class F, Tensor First, Tensor... Rest>
struct element_call<Operation, Family, F, First, Rest...> {
  using value = typename First::value_type;
  using result = typename Family::template result<value>;
  using keeper = typename Family::template keeper<F, value>;
  using verdict = map_verdict<Operation, keeper, typename Family::template verdict<Operation, First, Rest...>, result,
                              First, Rest...>;
  using refused = after_error_of<result, typename undivided<union_of<axes_in<First>, axes_in<Rest>...>>::type,
                                 typename First::space>;
  static auto run(First const& first, Rest const&... rest) {
    return run_map<map_types<keeper, First, Rest...>, result>(Operation::name, F{}, first, rest...);
  }
};

template <class Operation, class Family, class F, int At, class A, class Number>
struct element_call_with_number {
  using value = typename A::value_type;
  using result = typename Family::template result<value>;
  using f = with_number<F, value, At>;
  using keeper = typename Family::template keeper<f, value>;
  using verdict = map_verdict<
      Operation, keeper,
      first_fault<typename Family::template verdict<Operation, A>, number_verdict<Number, value>>, result, A>;
  using refused = after_error_of<result, typename undivided<axes_in<A>>::type, typename A::space>;
  static auto run(A const& a, Number const& number) {
    return run_map<map_types<keeper, A>, result>(Operation::name, f{{}, as_element<value>(Operation::name, number)}, a);
  }
};

template <class Operation, class Family, class F, Tensor A, class Number>
  requires is_number<Number>
struct element_call<Operation, Family, F, A, Number> : element_call_with_number<Operation, Family, F, 0, A, Number> {};

template <class Operation, class Family, class F, class Number, Tensor A>
  requires is_number<Number>
struct element_call<Operation, Family, F, Number, A> : element_call_with_number<Operation, Family, F, 1, A, Number> {
  static auto run(Number const& number, A const& a) {
    return element_call_with_number<Operation, Family, F, 1, A, Number>::run(a, number);
  }
};

/// The base of these operations.
template <class Operation, class F, class Family>
struct element_operation : moves_nothing {
  template <class... Given>
  using call = element_call<Operation, Family, F, Given...>;
  template <class... Given>
  using verdict = typename call<Given...>::verdict;
  template <class... Given>
  using refused = typename call<Given...>::refused;
  template <class How, class... Given>
  auto run(How const&, Given const&... given) const {
    return call<Given...>::run(given...);
  }
};

}  // namespace detail

}  // namespace ostraka
