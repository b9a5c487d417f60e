// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Moves of variables: os::reshard and os::rename. A tensor under another sharding is the same tensor, so a
/// reshard shares its operand's cotangent, and what comes behind it is asked for that sharding directly: the backward
/// of a gather and a product is one product and one reduce-scatter. A renamed one is asked for the sharding that its
/// operand wants, too.

#include <ostraka/gradient/cotangents/as.hpp>
#include <ostraka/rename.hpp>

namespace ostraka {

template <class T>
class abstract;  // of foretell.hpp

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

}  // namespace ostraka
