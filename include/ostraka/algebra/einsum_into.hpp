// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::einsum_into(C, A, B, os::alpha = 2, os::beta = 1)`: C <- alpha A · B + beta C, into an existing
/// tensor. C's type names the result, which authorises communication. C[I, K] {U_X} <- A[I, J_X] · B[J_X, K] + C
/// accumulates a sum that a program reduces later, once.

#include <cstdint>
#include <type_traits>

#include <ostraka/algebra/einsum.hpp>
#include <ostraka/arrays/given_array.hpp>
#include <ostraka/calls/shared_memory.hpp>
#include <ostraka/calls/numbers.hpp>

namespace ostraka {

/// A factor with its name: the result of `os::alpha = 2`.
template <class Name, class Number>
struct named_factor {
  Number value;
};

/// The name of the product's factor in os::einsum_into; the default is 1. If it is 0, the product is not computed.
struct alpha_factor {
  template <class Number>
  constexpr auto operator=(Number const& n) const {
    return named_factor<alpha_factor, Number>{n};
  }
};
inline constexpr alpha_factor alpha{};

/// The name of the factor of the destination's old elements; the default is 0. If it is 0, these elements are not read.
struct beta_factor {
  template <class Number>
  constexpr auto operator=(Number const& n) const {
    return named_factor<beta_factor, Number>{n};
  }
};
inline constexpr beta_factor beta{};

namespace detail {

// The arguments after the operands: factors and perhaps a policy, in any order.
template <class T>
struct trailing_arguments {
  using factor = type_list<>;  // its name
  using policy = type_list<>;
};

template <class Name, class Number>
struct trailing_arguments<named_factor<Name, Number>> {
  using factor = type_list<Name>;
  using policy = type_list<>;
};

template <class Policy>
  requires is_policy<Policy>
struct trailing_arguments<Policy> {
  using factor = type_list<>;
  using policy = type_list<Policy>;
};

template <class Behind>
struct settings;

template <class... Behind>
struct settings<type_list<Behind...>> {
  using factors = concatenation_of<typename trailing_arguments<Behind>::factor...>;
  using policies = concatenation_of<typename trailing_arguments<Behind>::policy...>;
  using policy = typename type_at<concatenation_of<policies, type_list<ostraka::policy<planner::admit::any>>>, 0>::type;
};

template <class Element, class T>
consteval auto check_setting(T const*) {
  if constexpr (is_policy<T>)
    return found<reason::ok>{};
  else
    return found<not_an_operand_verdict<T>>{};
}

template <class Element, class Name, class Number>
consteval auto check_setting(named_factor<Name, Number> const*) {
  return found<number_verdict<Number, Element>>{};
}

template <class Element, class... Behind>
consteval auto check_settings(type_list<Behind...>) {
  using given = settings<type_list<Behind...>>;
  using each = first_fault<typename decltype(check_setting<Element>(static_cast<Behind const*>(nullptr)))::type...>;
  if constexpr (!std::is_same_v<each, reason::ok>)
    return found<each>{};
  else if constexpr (given::policies::size > 1)
    return found<reason::not_an_operand<typename type_at<typename given::policies, 1>::type>>{};
  else if constexpr (!std::is_void_v<first_repeated<typename given::factors>>)
    return found<reason::factor_given_twice<first_repeated<typename given::factors>>>{};
  else
    return found<reason::ok>{};
}

template <class C, class Behind, class... Operands>
consteval auto check_einsum_into(type_list<Operands...>) {
  using own =
      first_fault<writable_verdict<C>, blocks_verdict<sharding<>, Operands..., C>, target_verdict<C, Operands...>,
                  typename decltype(check_settings<typename C::value_type>(Behind{}))::type>;
  if constexpr (!std::is_same_v<own, reason::ok>)
    return found<own>{};
  else
    return found<first_fault<einsum_verdict<sharding_in<C>, typename settings<Behind>::policy, Operands...>,
                             elements_verdict<C, Operands...>>>{};
}

// `Operands` lists the operands up to the first argument that is not one; `Behind` lists that argument and the rest.
template <class C, class Operands, class Behind>
using einsum_into_verdict = typename decltype(check_einsum_into<C, Behind>(Operands{}))::type;

// Splits the arguments into the operands up to the first argument that is not one, and the others.
template <class Operands, class... Arguments>
struct operands_first {
  using operands = Operands;
  using behind = type_list<Arguments...>;
};

template <class... Operands, Operand Next, class... More>
struct operands_first<type_list<Operands...>, Next, More...> : operands_first<type_list<Operands..., Next>, More...> {};

// Applies a factor or a policy to the settings of a run.
template <class T, class Policy, class Number>
void take_setting(engine::update<T>& how, Policy&, named_factor<alpha_factor, Number> const& given) {
  how.alpha = as_element<accumulator_of_t<T>>("einsum_into", given.value);
}

template <class T, class Policy, class Number>
void take_setting(engine::update<T>& how, Policy&, named_factor<beta_factor, Number> const& given) {
  how.beta = as_element<accumulator_of_t<T>>("einsum_into", given.value);
}

template <class T, class Policy>
void take_setting(engine::update<T>&, Policy& policy, Policy const& given) {
  policy = given;
}

// c <- alpha (the einsum) + beta c. The arguments after the operands hold the factors and perhaps a policy.
template <class Policy, class Operands>
struct einsum_into_of;

template <class Policy, class First, class... Rest>
struct einsum_into_of<Policy, type_list<First, Rest...>> {
  template <class C, class... Behind>
  static void run(C const& c, First const& first, Rest const&... rest, Behind const&... behind) {
    engine::update<typename C::value_type> update;
    Policy policy{};
    (take_setting(update, policy, behind), ...);
    using planned = einsum_of<sharding_in<C>, Policy, reduction::sum, type_list<First, Rest...>>;
    planned::run_how(into<C>{c}, "einsum_into", update, first, rest..., policy);
  }
};

template <class Sharding, class C, class First, class... Rest>
struct written_to<operation::einsum<Sharding>, C, First, Rest...> {
  using verdict = reason::not_an_operand<First>;
};

template <class Sharding, class C, Operand First, class... Rest>
struct written_to<operation::einsum<Sharding>, C, First, Rest...> {
  using split = operands_first<type_list<>, First, Rest...>;
  using verdict = einsum_into_verdict<C, typename split::operands, typename split::behind>;
  static void run(operation::einsum<Sharding> const&, C const& c, First const& first, Rest const&... rest) {
    einsum_into_of<typename settings<typename split::behind>::policy, typename split::operands>::run(c, first, rest...);
  }
};

}  // namespace detail

/// C <- alpha · (the einsum of the operands, divided and partial as C is) + beta · C. `os::alpha = …` and `os::beta =
/// …` follow the operands in any order; their defaults are 1 and 0. A policy may follow too, as in os::einsum. Elements
/// that 0 multiplies are not read: a NaN in C does not survive beta = 0. The call takes no more memory than os::einsum
/// takes beyond its result. If the last step is a contraction, a reduction or an exchange, it writes to C itself. If
/// the result is all-reduced, one device of each group adds beta · C, so that all hold the same bits. Collective over
/// the mesh axes that the tensors name, with equal factors.
/// @throws ostraka::error, on all devices alike, if extents disagree, if C shares memory with an operand, if the plan
/// moves more than a budget, or if elements of an integer type cannot hold a factor
template <TensorOrVariable C, class A, class... OperandsThenFactors>
void einsum_into(C const& c, A const& a, OperandsThenFactors const&... more) {
  detail::operate_how(detail::into<C>{c}, operation::einsum<sharding_in<C>>{}, a, more...);
}

/// Does not compile: the error names the argument that takes the destination's place.
template <class C, class A, class... More>
  requires(!TensorOrVariable<C> && !detail::GivenArray<C const&>)
void einsum_into(C const&, A const&, More const&...) {
  reason::raise<reason::not_an_operand<C>>();
}

}  // namespace ostraka
