// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 1. Logical axes: rules that assign mesh axes to axes once for a whole program. Under R = {batch/X, hidden/Y},
/// R(batch) is batch_X and R(batch, seq, hidden) is [batch_X, seq, hidden_Y], in any list of dimensions.

#include <type_traits>

#include <ostraka/types/shardings/sharding.hpp>

namespace ostraka {

namespace detail {

template <class Rule>
inline constexpr bool is_divided_axis = false;
template <Axis A, MeshAxis... Ms>
inline constexpr bool is_divided_axis<over<A, Ms...>> =
    true;  // also true for a division over nothing, which has already been refused

template <class Rule>
consteval auto check_rule() {
  if constexpr (is_divided_axis<Rule>)
    return found<reason::ok>{};
  else
    return found<reason::rule_divides_nothing<Rule>>{};
}

template <class Rule>
using rule_verdict = typename decltype(check_rule<Rule>())::type;

// The last case finds rules that are wrong by themselves, such as batch/X/X.
template <class... Rules>
consteval auto check_rules() {
  using each = first_fault<rule_verdict<Rules>...>;
  using twice = first_repeated<concatenation_of<typename entry<Rules>::axes...>>;
  if constexpr (!std::is_same_v<each, reason::ok>)
    return found<each>{};
  else if constexpr (!std::is_void_v<twice>)
    return found<reason::rule_given_twice<twice>>{};
  else
    return found<first_fault<typename sharding_traits<sharding<Rules>>::verdict...>>{};
}

// A bare axis takes its rule; an axis that is already divided, and a partial entry, stay unchanged.
template <class Dim, class... Rules>
struct ruled {
  using type = Dim;
};

template <Axis A, class Rule, class... Rules>
struct ruled<A, Rule, Rules...> : ruled<A, Rules...> {};

template <Axis A, MeshAxis... Ms, class... Rules>
struct ruled<A, over<A, Ms...>, Rules...> {
  using type = over<A, Ms...>;
};

}  // namespace detail

/// The type of a set of rules, one `over<axis, mesh…>` per axis; write the alias os::rules<batch/X, hidden/Y> instead.
template <class... Rules>
struct rule_set {
  /// `reason::ok`, or the reason why the rules are wrong by themselves.
  using verdict = typename decltype(detail::check_rules<Rules...>())::type;

  constexpr rule_set() { reason::raise<verdict>(); }

  /// One dimension: `R(batch)` is batch/X, or batch if there is no rule for it.
  template <class Dim>
  consteval auto operator()(Dim) const {
    return typename detail::ruled<Dim, Rules...>::type{};
  }

  /// Several dimensions as one entry in a list of them: `os::einsum<R(batch, seq, hidden)>(x, w)`. Axes that are
  /// already divided here (`seq/Z`) and os::partial(X) stay unchanged.
  template <class... Dims>
    requires(sizeof...(Dims) != 1)
  consteval auto operator()(Dims...) const {
    return detail::canonical_sharding<typename detail::ruled<Dims, Rules...>::type...>{};
  }
};

/// Rules for the axes of a program: `constexpr os::rules<batch/X, hidden/Y/Z> R;`. Axes without a rule are not divided.
template <auto... Rules>
using rules = rule_set<detail::type_of<Rules>...>;

/// The same for rules that are a type: `os::einsum<os::under<R>(batch, hidden)>(x, w)`.
template <class R, class... Dims>
consteval auto under(Dims... dims) {
  return R{}(dims...);
}

}  // namespace ostraka
