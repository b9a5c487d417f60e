// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Variables in the leaves of trees (tree.hpp): what a function of parameters is called with while its
/// derivative is taken.

#include <ostraka/calls/vocabulary.hpp>
#include <ostraka/gradient/tape/variable.hpp>
#include <ostraka/tree/tree_map.hpp>

namespace ostraka {

namespace detail {

// How many derivatives are under way in leaves of this policy.
template <class Policy>
constexpr int depth_of_leaves() {
  if constexpr (requires { Policy::derivatives; })
    return Policy::derivatives;
  else
    return 0;
}

}  // namespace detail

/// Variables stand in the leaves of a tree, of what another policy has there.
template <class Inner>
struct variables_over {
  using inner = Inner;
  static constexpr int derivatives = 1 + detail::depth_of_leaves<Inner>();
  template <class T, class Sharding>
  using leaf = variable<typename Inner::template leaf<T, Sharding>>;
};

/// Variables stand in the leaves of a tree: `mlp<os::variables>` is what a function of parameters `mlp<os::values>` is
/// called with by os::value_and_grad.
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
