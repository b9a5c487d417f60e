// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::einsum_into(C, A, B, os::alpha = 2, os::beta = 1)`: C <- alpha A · B + beta C, into a tensor that is
/// there. C's own type is the named result that authorises communication. C[I, K] {U_X} <- A[I, J_X] · B[J_X, K] + C
/// adds up what a program reduces later, once.

#include <cstdint>
#include <type_traits>

#include <ostraka/detail/numbers.hpp>
#include <ostraka/detail/shared_memory.hpp>
#include <ostraka/einsum.hpp>

namespace ostraka {

/// A factor with its name: what `os::alpha = 2` is.
template <class Name, class Number>
struct named_factor {
  Number value;
};

/// The name of the product's factor in os::einsum_into; 1 where it is not given. With 0, the product is not taken.
struct alpha_factor {
  template <class Number>
  constexpr auto operator=(Number const& n) const {
    return named_factor<alpha_factor, Number>{n};
  }
};
inline constexpr alpha_factor alpha{};

/// The name of the factor of what the tensor held before; 0 where it is not given. With 0, that is not read.
struct beta_factor {
  template <class Number>
  constexpr auto operator=(Number const& n) const {
    return named_factor<beta_factor, Number>{n};
  }
};
inline constexpr beta_factor beta{};

namespace detail {

// What stands behind the operands: factors and perhaps a policy, in any order.
template <class T>
struct behind_operands {
  using factor = type_list<>;  // its name
  using policy = type_list<>;
  template <class Element>
  using verdict = stranger_verdict<T>;
};

template <class Name, class Number>
struct behind_operands<named_factor<Name, Number>> {
  using factor = type_list<Name>;
  using policy = type_list<>;
  template <class Element>
  using verdict =
      std::conditional_t<is_number_among<Number, Element>, reason::ok, reason::number_of_another_kind<Number, Element>>;
};

template <class Policy>
  requires is_policy<Policy>
struct behind_operands<Policy> {
  using factor = type_list<>;
  using policy = type_list<Policy>;
  template <class Element>
  using verdict = reason::ok;
};

template <class List>
struct only_policy {
  using type = policy<planner::admit::any>;
  using verdict = reason::ok;
};

template <class Policy>
struct only_policy<type_list<Policy>> {
  using type = Policy;
  using verdict = reason::ok;
};

template <class First, class Second, class... More>
struct only_policy<type_list<First, Second, More...>> {
  using type = First;
  using verdict = reason::not_an_operand<Second>;
};

template <class Names>
using factor_twice = std::conditional_t<std::is_void_v<first_repeated<Names>>, reason::ok,
                                        reason::factor_given_twice<first_repeated<Names>>>;

template <class Behind>
struct settings;

template <class... Behind>
struct settings<type_list<Behind...>> {
  using policies = only_policy<concatenation_of<typename behind_operands<Behind>::policy...>>;
  using policy = typename policies::type;
  template <class Element>
  using verdict =
      typename first_fault<reason::ok, typename behind_operands<Behind>::template verdict<Element>...,
                           typename policies::verdict,
                           factor_twice<concatenation_of<typename behind_operands<Behind>::factor...>>>::type;
};

// Operands first: what is an operand up to the first thing that is none.
template <class Operands, class... Arguments>
struct operands_first {
  using operands = Operands;
  using behind = type_list<Arguments...>;
};

template <class... Operands, Operand Next, class... More>
struct operands_first<type_list<Operands...>, Next, More...> : operands_first<type_list<Operands..., Next>, More...> {};

template <class T, class Other>
void take_factor(engine::update<T>&, Other const&) {}

template <class T, class Number>
void take_factor(engine::update<T>& how, named_factor<alpha_factor, Number> const& given) {
  how.alpha = as_element<accumulator_of_t<T>>("einsum_into", given.value);
}

template <class T, class Number>
void take_factor(engine::update<T>& how, named_factor<beta_factor, Number> const& given) {
  how.beta = as_element<accumulator_of_t<T>>("einsum_into", given.value);
}

template <class Policy, class Other>
void take_policy(Policy&, Other const&) {}

template <class Policy>
void take_policy(Policy& policy, Policy const& given) {
  policy = given;
}

template <class Policy, class C, class... Operands>
void run_einsum_into(Policy const& policy, engine::update<typename C::value_type> const& how, C const& c,
                     Operands const&... operands) {
  using types = einsum_types<sharding_in<C>, typename Policy::unlimited, reduction::sum, Operands...>;
  engine::steps_ahead const steps(planner::plan_view(stored_plan_of<types>).steps);
  engine::execution_context const w =
      context_of<typename types::labels, typename types::mesh>("einsum_into", steps, operands..., c);
  planner::plan_view const plan =
      plan_at_hand<Policy, types, static_cast<int>(sizeof(typename C::value_type))>("einsum_into", w);
  oversee<Policy, types, static_cast<int>(sizeof(typename C::value_type))>("einsum_into", w, plan);
  memory_range const read[] = {memory_of(operands)...};
  refuse_shared_memory(w, steps, "os::einsum", memory_of(c), read, static_cast<int>(sizeof...(Operands)));
  run_within<types>(w, plan, policy, c, how, operands...);
}

template <class Operands, class Behind>
struct einsum_into_of;

template <class... Operands, class... Behind>
struct einsum_into_of<type_list<Operands...>, type_list<Behind...>> {
  template <class C>
  static void run([[maybe_unused]] C const& c, [[maybe_unused]] Operands const&... operands,
                  [[maybe_unused]] Behind const&... behind) {
    using value = typename C::value_type;
    using given = settings<type_list<Behind...>>;
    using verdict = typename first_fault<writable_verdict<C>, typename given::template verdict<value>,
                                         einsum_verdict<sharding_in<C>, typename given::policy, Operands...>,
                                         typename same_elements<C, Operands...>::type>::type;
    reason::raise<verdict>();
    if constexpr (std::is_same_v<verdict, reason::ok>) {
      engine::update<value> how;
      (take_factor(how, behind), ...);
      typename given::policy policy{};
      (take_policy(policy, behind), ...);
      run_einsum_into(policy, how, c, operands...);
    }
  }
};

}  // namespace detail

/// C <- alpha · (the einsum of the operands, divided and partial as C is) + beta · C. `os::alpha = …` and `os::beta =
/// …` stand behind the operands in any order, each optional (1 and 0), with perhaps a policy as in os::einsum. What is
/// multiplied by 0 is not read: a NaN in C does not survive beta = 0. No more memory is taken than os::einsum takes
/// beyond its result. Where the last step is a contraction, a reduction or an exchange, it writes to C itself; where
/// the result is all-reduced, one device of each group adds beta · C, so that all hold the same bits. Collective over
/// the mesh axes that the tensors name, with equal factors.
/// @throws ostraka::error, on all devices alike, if extents disagree, if C shares memory with an operand, if the plan
/// moves more than a budget, or if a factor is a number that whole elements cannot hold
template <Tensor C, Operand A, class... OperandsThenFactors>
void einsum_into(C const& c, A const& a, OperandsThenFactors const&... more) {
  using split = detail::operands_first<type_list<>, A, OperandsThenFactors...>;
  detail::einsum_into_of<typename split::operands, typename split::behind>::run(c, a, more...);
}

/// Says what stands where a tensor should.
template <class C, class A, class... More>
  requires(!Tensor<C> || !Operand<A>)
void einsum_into(C const&, A const&, More const&...) {
  reason::raise<reason::not_an_operand<std::conditional_t<Tensor<C>, A, C>>>();
}

}  // namespace ostraka
