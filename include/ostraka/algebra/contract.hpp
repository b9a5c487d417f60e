// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::contract<J>(A, B)`: the product summed over J where that needs no communication; where it does, it
/// does not compile. A[I_X, J] · B[J, K_Y] → [I_X, K_Y]

#include <ostraka/algebra/einsum.hpp>

namespace ostraka {

namespace detail {

template <class Summed, class A, class B>
struct contract_result {
  using types = contract_types<Summed, A, B>;
  using type = varying_as<sharding_from<types::finding.result, typename types::labels, typename types::mesh>, A, B>;
};

/// The tensor that stands for a product that was refused.
template <class Summed, class A, class B>
constexpr auto refused_product() {
  using kept = difference_of<union_of<axes_in<A>, axes_in<B>>, Summed>;
  return after_error_of<typename A::value_type, typename undivided<kept>::type, typename A::space>();
}

}  // namespace detail

/// Sums over the axes `Js`; the others remain, first A's, then B's, divided as the operands are. Moves nothing between
/// devices.
/// @throws ostraka::error, on all devices alike, if extents disagree
template <auto... Js, Tensor A, Tensor B>
[[nodiscard]] auto contract(A const& a, B const& b) {
  using summed = axes_in<sharding_of<Js...>>;
  using verdict = detail::first_fault<contract_verdict<summed, A, B>, detail::elements_verdict<A, B>>;
  if constexpr (reason::ok_or_raise<verdict>())
    return detail::einsum_of<typename detail::contract_result<summed, A, B>::type,
                             policy<planner::admit::no_communication>, reduction::sum, type_list<A, B>>::run("contract",
                                                                                                             {}, a, b);
  else
    return detail::refused_product<summed, A, B>();
}

/// Says that a verb is no policy. os::contract takes no policy at all.
template <auto... Js, Tensor A, Tensor B, Verb V>
auto contract(A const&, B const&, V) {
  reason::raise<reason::verb_is_no_policy<V>>();
  return detail::refused_product<axes_in<sharding_of<Js...>>, A, B>();
}

}  // namespace ostraka
