// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Variables in the leaves of trees (tree.hpp): the argument of a function of parameters while its derivative
/// is taken.

#include <ostraka/calls/operate.hpp>
#include <ostraka/gradient/tape/variable.hpp>
#include <ostraka/tree/tree_map.hpp>

namespace ostraka {

namespace detail {

// The number of nested derivatives in leaves of this policy.
template <class Policy>
constexpr int depth_of_leaves() {
  if constexpr (requires { Policy::derivatives; })
    return Policy::derivatives;
  else
    return 0;
}

}  // namespace detail

/// The leaf policy of variables of the leaves of another policy.
template <class Inner>
struct variables_over {
  using inner = Inner;
  static constexpr int derivatives = 1 + detail::depth_of_leaves<Inner>();
  template <class T, class Sharding>
  using leaf = variable<typename Inner::template leaf<T, Sharding>>;
};

/// The leaf policy of variables: os::value_and_grad calls a function of parameters `mlp<os::values>` with
/// `mlp<os::variables>`.
struct variables : variables_over<values> {};

namespace detail {

template <class Policy>
struct variables_of_leaves {
  using type = variables_over<Policy>;
};
template <>
struct variables_of_leaves<values> {
  using type = variables;
};

template <class T>
consteval int derivatives_in() {
  if constexpr (TensorOrVariable<T>)
    return depth_of<T>;
  else if constexpr (requires { typename leaves_in<T>; })
    return depth_of_leaves<leaves_in<T>>();
  else
    return 0;
}

}  // namespace detail

}  // namespace ostraka
