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

template <class Sharding, class X, class Policy = policy<planner::admit::any>>
constexpr auto sum_as(X const& x, Policy const& how = {});  // of as.hpp, as this
template <class Sharding, class X, class Policy = policy<planner::admit::any>>
constexpr auto reshard_as(X const& x, Policy const& how = {});

}  // namespace detail

// The overloads, which the verbs' structs call for variables of variables.
template <auto From, auto To, Variable A>
constexpr auto rename(A const& a);
template <auto... Out, Variable A, class Policy = policy<planner::admit::any>>
constexpr auto mean(A const& a, Policy const& how = {});

namespace verbs {

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

template <auto... To, Variable A, class Policy = policy<planner::admit::any>>
[[nodiscard]] constexpr auto reshard(A const& a, Policy const& how = {}) {
  return detail::reshard_as<sharding_of<To...>>(a, how);
}

template <auto From, auto To, Variable A>
[[nodiscard]] constexpr auto rename(A const& a) {
  return differentiate(verbs::rename<From, To>{}, a);
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
