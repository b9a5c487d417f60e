// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Moves of variables: os::reshard, os::rename, os::named and os::copy. A tensor under another sharding is the
/// same tensor, so a reshard shares its operand's cotangent, and what comes behind it is asked for that sharding
/// directly: the backward of a gather and a product is one product and one reduce-scatter. A renamed one and a copy are
/// asked for the sharding that their operand wants, too. Zeros like a variable are constants.

#include <string>
#include <type_traits>

#include <ostraka/creation/copy.hpp>
#include <ostraka/creation/named.hpp>
#include <ostraka/creation/zeros.hpp>
#include <ostraka/gradient/cotangents/as.hpp>
#include <ostraka/moves/rename.hpp>

namespace ostraka {

template <class T>
class abstract;  // of foretell.hpp

template <Variable A>
constexpr auto copy(A const& a);
template <Variable A>
constexpr auto zeros_like(A const& a);

namespace verbs {

struct copy {
  using is_verb = void;
  static constexpr char const* name = "copy";
  template <class A>
  constexpr auto operator()(A const& a) const {
    return ostraka::copy(a);
  }
};

struct zeros_like {
  using is_verb = void;
  static constexpr char const* name = "zeros_like";
  template <class A>
  constexpr auto operator()(A const& a) const {
    return ostraka::zeros_like(a);
  }
};

}  // namespace verbs

namespace detail {

template <auto From, auto To>
struct rename_pullback {
  template <int, class Wanted, class G>
  constexpr Wanted pull(G const& g) const {
    return summed_to<Wanted>(ostraka::rename<To, From>(g));
  }
};

// The cotangents that the operand wants, its axis being called otherwise.
template <class From, class To, class Result, class A>
struct renamed_cotangent {
  using type = cotangent_of<Result>;
};
template <class From, class To, class Result, class T, class U, class Sharding, class Space>
struct renamed_cotangent<From, To, Result, variable<T, basic_tensor<U, Sharding, Space>>> {
  using type = basic_tensor<U, typename rename_sharding<From, To, Sharding>::type, Space>;
};

template <class From, class To, class Result, class T, class U, class Sharding, class Space>
struct renamed_cotangent<From, To, Result, variable<T, abstract<basic_tensor<U, Sharding, Space>>>> {
  using type = abstract<basic_tensor<U, typename rename_sharding<From, To, Sharding>::type, Space>>;
};

}  // namespace detail

/// A verb of one move gives the same tensor under another sharding, as a reshard does.
template <class Operation>
  requires requires { typename Operation::is_one_move; }
struct derivative_of<Operation> {
  template <class A>
  static constexpr auto composed(Operation const&, A const& a) {
    if constexpr (reason::ok_or_raise<typename Operation::template verdict<A>>())
      return detail::reshard_as<typename Operation::template target<A>>(a);
    else
      return a;
  }
};

template <auto From, auto To>
struct derivative_of<verbs::rename<From, To>> {
  template <class Result, class A>
  using handed_on =
      typename detail::renamed_cotangent<detail::type_of<From>, detail::type_of<To>, Result, A>::type;
  template <class Result, class A>
  static constexpr auto pullback(verbs::rename<From, To>, Result const&, A const&) {
    return detail::rename_pullback<From, To>{};
  }
};

template <>
struct derivative_of<verbs::copy> {
  template <class Result, class A>
  using handed_on = typename A::cotangent_type;
  template <class Result, class A>
  static constexpr auto pullback(verbs::copy, Result const&, A const&) {
    return detail::identity_pullback{};
  }
};

template <>
struct derivative_of<verbs::zeros_like> : detail::locally_constant {};

/// os::copy of a variable.
template <Variable A>
[[nodiscard]] constexpr auto copy(A const& a) {
  return differentiate(verbs::copy{}, a);
}

/// The same variable, its value called that. Abstract tensors have no names, and none is made in constant expressions.
template <class Label, Variable A>
  requires std::is_convertible_v<Label const&, std::string>
[[nodiscard]] constexpr A named([[maybe_unused]] Label const& label, A const& a) {
  if constexpr (is_abstract<A> || detail::is_foretold<A>)
    return a;
  else
    return a.with_value(named(std::string(label), a.value()));
}

/// Zeros, which are constants.
template <Variable A>
[[nodiscard]] constexpr auto zeros_like(A const& a) {
  return differentiate(verbs::zeros_like{}, a);
}

}  // namespace ostraka
