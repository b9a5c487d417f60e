// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The verbs of ostraka.hpp on variables. Each is an operation, a struct in os::verbs, so that its derivative
/// is found as those of the vocabulary are (rules/), and an overload for variables, which leads to os::differentiate.

#include <type_traits>

#include <ostraka/algebra/reductions.hpp>
#include <ostraka/elements/arithmetic.hpp>
#include <ostraka/elements/map.hpp>
#include <ostraka/elements/operators.hpp>
#include <ostraka/gradient/tape/record.hpp>
#include <ostraka/moves/rename.hpp>
#include <ostraka/moves/reshard.hpp>

namespace ostraka {

namespace detail {

template <class A, class B>
concept VariableOperands = (Variable<A> && (Variable<B> || Tensor<B>)) || (Tensor<A> && Variable<B>);

template <class A, class B>
concept VariableMeets =
    VariableOperands<A, B> || (Variable<A> && is_number<B>) || (is_number<A> && Variable<B>);

template <class Sharding, class... Given>
constexpr auto einsum_as(Given const&... given);  // of as.hpp, as these
template <class Sharding, class X, class Policy = policy<planner::admit::any>>
constexpr auto sum_as(X const& x, Policy const& how = {});
template <class Sharding, class X, class Policy = policy<planner::admit::any>>
constexpr auto reshard_as(X const& x, Policy const& how = {});

}  // namespace detail

// The overloads, which the verbs' structs call for variables of variables.
template <class A, class B>
  requires detail::VariableMeets<A, B>
constexpr auto add(A const& a, B const& b);
template <class A, class B>
  requires detail::VariableMeets<A, B>
constexpr auto subtract(A const& a, B const& b);
template <Variable A>
constexpr auto negate(A const& a);
template <Variable A, class Number>
  requires detail::is_number<Number>
constexpr auto scale(A const& a, Number const& factor);
template <class A, class B>
  requires detail::VariableMeets<A, B>
constexpr auto multiply(A const& a, B const& b);
template <class A, class B>
  requires detail::VariableMeets<A, B>
constexpr auto divide(A const& a, B const& b);
template <class F, class... Given>
  requires(!is_variable<F> && any_variable<Given...>)
constexpr auto map(F const& f, Given const&... given);
template <auto From, auto To, Variable A>
constexpr auto rename(A const& a);
template <class To, Variable A>
constexpr auto cast(A const& a);  // of verbs/choices.hpp
template <auto... Out, Variable A, class Policy = policy<planner::admit::any>>
constexpr auto mean(A const& a, Policy const& how = {});

namespace verbs {

struct add {
  using is_verb = void;
  static constexpr char const* name = "add";
  template <class A, class B>
  constexpr auto operator()(A const& a, B const& b) const {
    return ostraka::add(a, b);
  }
};

struct subtract {
  using is_verb = void;
  static constexpr char const* name = "subtract";
  template <class A, class B>
  constexpr auto operator()(A const& a, B const& b) const {
    return ostraka::subtract(a, b);
  }
};

struct negate {
  using is_verb = void;
  static constexpr char const* name = "negate";
  template <class A>
  constexpr auto operator()(A const& a) const {
    return ostraka::negate(a);
  }
};

struct scale {
  using is_verb = void;
  static constexpr char const* name = "scale";
  template <class A, class Number>
  constexpr auto operator()(A const& a, Number const& factor) const {
    return ostraka::scale(a, factor);
  }
};

struct multiply {
  using is_verb = void;
  static constexpr char const* name = "multiply";
  template <class A, class B>
  constexpr auto operator()(A const& a, B const& b) const {
    return ostraka::multiply(a, b);
  }
};

struct divide {
  using is_verb = void;
  static constexpr char const* name = "divide";
  template <class A, class B>
  constexpr auto operator()(A const& a, B const& b) const {
    return ostraka::divide(a, b);
  }
};

template <class F>
struct map {
  using is_verb = void;
  static constexpr char const* name = "map";
  F f;
  template <class... Given>
  constexpr auto operator()(Given const&... given) const {
    return ostraka::map(f, given...);
  }
};

/// By a function whose results are constants.
template <class F>
struct constant_map : map<F> {};

template <auto From, auto To>
struct rename {
  using is_verb = void;
  static constexpr char const* name = "rename";
  using gives_a_view = void;
  template <class A>
  constexpr auto operator()(A const& a) const {
    return ostraka::rename<From, To>(a);
  }
};

template <class Sharding>
struct einsum {
  using is_verb = void;
  static constexpr char const* name = "einsum";
  template <class... Given>
  constexpr auto operator()(Given const&... given) const {
    return detail::einsum_as<Sharding>(given...);
  }
};

template <class Sharding>
struct sum {
  using is_verb = void;
  static constexpr char const* name = "sum";
  template <class A, class Policy>
  constexpr auto operator()(A const& a, Policy const& how) const {
    return detail::sum_as<Sharding>(a, how);
  }
};

template <auto... Out>
struct mean {
  using is_verb = void;
  static constexpr char const* name = "mean";
  template <class A, class Policy>
  constexpr auto operator()(A const& a, Policy const& how) const {
    return ostraka::mean<Out...>(a, how);
  }
};

}  // namespace verbs

template <class A, class B>
  requires detail::VariableMeets<A, B>
[[nodiscard]] constexpr auto add(A const& a, B const& b) {
  return differentiate(verbs::add{}, a, b);
}

template <class A, class B>
  requires detail::VariableMeets<A, B>
[[nodiscard]] constexpr auto subtract(A const& a, B const& b) {
  return differentiate(verbs::subtract{}, a, b);
}

template <Variable A>
[[nodiscard]] constexpr auto negate(A const& a) {
  return differentiate(verbs::negate{}, a);
}

template <Variable A, class Number>
  requires detail::is_number<Number>
[[nodiscard]] constexpr auto scale(A const& a, Number const& factor) {
  return differentiate(verbs::scale{}, a, factor);
}
template <class Number, Variable A>
  requires detail::is_number<Number>
[[nodiscard]] constexpr auto scale(Number const& factor, A const& a) {
  return scale(a, factor);
}

template <class A, class B>
  requires detail::VariableMeets<A, B>
[[nodiscard]] constexpr auto multiply(A const& a, B const& b) {
  if constexpr (detail::is_number<A> || detail::is_number<B>)
    return scale(a, b);
  else
    return differentiate(verbs::multiply{}, a, b);
}

template <class A, class B>
  requires detail::VariableMeets<A, B>
[[nodiscard]] constexpr auto divide(A const& a, B const& b) {
  return differentiate(verbs::divide{}, a, b);
}

template <class A, class B>
  requires detail::VariableMeets<A, B>
[[nodiscard]] constexpr auto operator+(A const& a, B const& b) {
  return add(a, b);
}
template <class A, class B>
  requires detail::VariableMeets<A, B>
[[nodiscard]] constexpr auto operator-(A const& a, B const& b) {
  return subtract(a, b);
}
template <class A, class B>
  requires detail::VariableMeets<A, B>
[[nodiscard]] constexpr auto operator*(A const& a, B const& b) {
  return multiply(a, b);
}
template <class A, class B>
  requires detail::VariableMeets<A, B>
[[nodiscard]] constexpr auto operator/(A const& a, B const& b) {
  return divide(a, b);
}
template <Variable A>
[[nodiscard]] constexpr auto operator-(A const& a) {
  return negate(a);
}

/// os::map of variables and constants by a function that says its derivative.
template <class F, class... Given>
  requires(!is_variable<F> && any_variable<Given...>)
[[nodiscard]] constexpr auto map(F const& f, Given const&... given) {
  using result = std::remove_cvref_t<std::invoke_result_t<F const&, typename Given::value_type const&...>>;
  if constexpr (detail::is_differentiable<result>)
    return differentiate(verbs::map<std::decay_t<F>>{f}, given...);
  else
    return differentiate(verbs::constant_map<std::decay_t<F>>{{f}}, given...);  // bools, whole numbers
}

template <auto... To, Variable A, class Policy = policy<planner::admit::any>>
[[nodiscard]] constexpr auto reshard(A const& a, Policy const& how = {}) {
  return detail::reshard_as<sharding_of<To...>>(a, how);
}

template <auto From, auto To, Variable A>
[[nodiscard]] constexpr auto rename(A const& a) {
  return differentiate(verbs::rename<From, To>{}, a);
}

/// os::einsum of variables and constants.
template <auto... Out, class... Given>
  requires any_variable<Given...>
[[nodiscard]] constexpr auto einsum(Given const&... given) {
  return detail::einsum_as<sharding_of<Out...>>(given...);
}

/// os::sum of a variable.
template <auto... Out, Variable A, class Policy = policy<planner::admit::any>>
[[nodiscard]] constexpr auto sum(A const& a, Policy const& how = {}) {
  return detail::sum_as<sharding_of<Out...>>(a, how);
}

/// os::mean of a variable.
template <auto... Out, Variable A, class Policy>
[[nodiscard]] constexpr auto mean(A const& a, Policy const& how) {
  return differentiate(verbs::mean<Out...>{}, a, how);
}

}  // namespace ostraka
