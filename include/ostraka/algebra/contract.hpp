// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::contract<J>(A, B)`: the product of A and B, summed over J: A[I_X, J] · B[J, K_Y] → [I_X, K_Y]. It does
/// not compile if the sum needs communication.

#include <ostraka/algebra/einsum.hpp>
#include <ostraka/calls/moves_of_parts.hpp>

namespace ostraka {

namespace detail {

template <class Summed, class A, class B>
struct contract_result {
  using types = contract_types<Summed, A, B>;
  using type = varying_as<sharding_from<types::finding.result, typename types::labels, typename types::mesh>, A, B>;
};

/// The type that takes the place of a refused product.
template <class Summed, class A, class B>
struct refused_product {
  using type = after_error_of<float, sharding<>>;
};
template <class Summed, Operand A, Operand B>
struct refused_product<Summed, A, B> {
  using kept = difference_of<union_of<axes_in<A>, axes_in<B>>, Summed>;
  using type = after_error_of<typename A::value_type, typename undivided<kept>::type, typename A::space>;
};

template <class Summed, class A, class B, class... Behind>
consteval auto check_contract_call() {
  if constexpr (sizeof...(Behind) > 0)
    return found<not_an_operand_verdict<typename nth<0, Behind...>::type>>{};
  else
    return found<first_fault<contract_verdict<Summed, A, B>, elements_verdict<A, B>>>{};
}

}  // namespace detail

namespace operation {

/// The operation of os::contract, summed over the axes in `Summed`.
template <class Summed>
struct contract {
  static constexpr char const* name = "contract";
  template <class A, class B, class... Behind>
  using verdict = typename decltype(detail::check_contract_call<Summed, A, B, Behind...>())::type;
  template <class A, class B>
  using result = typename detail::contract_result<Summed, A, B>::type;
  template <class A, class B>
  using moves =
      detail::moves_of_plan<detail::product_source<result<A, B>, policy<planner::admit::no_communication>, A, B>>;
  template <class A, class B, class...>
  using refused = typename detail::refused_product<Summed, A, B>::type;

  template <class How, class A, class B>
  auto run(How const&, A const& a, B const& b) const {
    return detail::einsum_of<result<A, B>, policy<planner::admit::no_communication>, reduction::sum,
                             type_list<A, B>>::run(name, {}, a, b);
  }
};

}  // namespace operation

/// Sums over the axes `Js`. The other axes remain, A's before B's, divided as in the operands. Moves nothing between
/// devices, and takes no policy.
/// @throws ostraka::error, on all devices alike, if extents disagree
template <auto... Js, TensorOrVariable A, TensorOrVariable B, Verb... Vs>
[[nodiscard]] constexpr auto contract(A const& a, B const& b, Vs... vs) {
  return detail::operate(operation::contract<axes_in<sharding_of<Js...>>>{}, a, b, vs...);
}

}  // namespace ostraka
