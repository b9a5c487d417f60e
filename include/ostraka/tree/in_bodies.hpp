// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Trees in bodies of os::shard_map. A tree enters as the same struct with the blocks of its leaves. So a
/// function of parameters accepts it, and os::value_and_grad returns a tree of blocks.
///
///     os::shard_map<os::dims<>{}>([&](auto const& p, auto x) { return os::psum<X>(loss(p, x)); }, params, data);

#include <type_traits>
#include <utility>

#include <ostraka/local_view/pipelines/pipeline_operands.hpp>
#include <ostraka/local_view/pvary.hpp>
#include <ostraka/local_view/shard_map.hpp>
#include <ostraka/tree/tree_map.hpp>

namespace ostraka {

namespace detail {

/// The leaf policy of a tree of blocks: F makes each block from the leaf of L, and a variable from a variable.
template <class F>
struct made_by {
  template <class L>
  struct leaves : derivatives_as<L, leaves> {
    template <class T, class Sharding>
    using leaf = decltype(std::declval<F const&>()(std::declval<typename L::template leaf<T, Sharding> const&>()));
  };
};

/// The tree with f(leaf) in its leaves.
template <class F, class P>
auto blocks_of_tree(F const& f, P const& tree) {
  return tree_map<typename made_by<F>::template leaves<leaves_in<P>>>(f, tree);
}

template <class Manual>
struct leaf_at_door {
  char const* operation;

  template <class A>
  auto operator()(A const& a) const {
    return enter_all<Manual>(operation, a);
  }
};

template <auto... Ms>
struct varied_leaf {
  template <class A>
  auto operator()(A const& a) const {
    return pvary<Ms...>(a);
  }
};

template <class... As>
consteval bool are_tensors(type_list<As...>) {
  return (tensors_in<As>::found && ...);
}

template <class... As>
auto tensors_of_leaves(type_list<As...>) -> concatenation_of<type_list<>, typename tensors_in<As>::type...>;

// (A std::array of trees is a list of operands.)
template <Tree P>
  requires(container_of<P> != node::array)
struct tensors_in<P> {
  using tree = P;  // in a std::array of trees this is another type
  using leaves = typename leaf_list<shape_of<P>, P>::type;
  using type = decltype(tensors_of_leaves(leaves{}));
  static constexpr bool found = are_tensors(leaves{});

  template <class Manual>
  static auto enter(char const* operation, P const& tree) {
    return blocks_of_tree(leaf_at_door<Manual>{operation}, tree);
  }
};

}  // namespace detail

/// The same for a tree: each of its leaves may differ along `Ms` from now on.
template <auto... Ms, Tree P>
[[nodiscard]] auto pvary(P const& tree) {
  return detail::blocks_of_tree(detail::varied_leaf<Ms...>{}, tree);
}

}  // namespace ostraka
