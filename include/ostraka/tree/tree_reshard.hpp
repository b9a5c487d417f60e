// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. A tree under other shardings: those in its struct, or those that a leaf policy derives from them:
///
///     auto reduced = os::tree_reshard<os::values>(gradients);    // [I, J] {U_X} → [I, J], as in the struct

#include <ostraka/moves/reshard.hpp>
#include <ostraka/tree/leaf.hpp>
#include <ostraka/tree/walk.hpp>

namespace ostraka {

namespace detail {

/// A leaf, resharded on conversion to the type in its place.
template <class A>
struct resharding_leaf {
  A const& leaf;

  template <class T, class Sharding, class Space>
  operator basic_tensor<T, Sharding, Space>() const {
    return operate(operation::reshard<Sharding>{}, leaf, cheapest);
  }
};

struct reshard_leaf {
  template <class A>
  auto operator()(path const&, A const& leaf) const {
    return resharding_leaf<A>{leaf};
  }
};

}  // namespace detail

/// The tree with each leaf under the sharding that `Leaves` gives it. A leaf that already has that sharding shares its
/// memory. Collective over the mesh axes that either sharding names.
template <class Leaves, class T>
[[nodiscard]] auto tree_reshard(T const& tree) {
  if constexpr (reason::ok_or_raise<detail::trees_verdict<T>>()) {
    detail::reshard_leaf reshard;
    return detail::make_node<detail::shape_of<T>, detail::tree_with<T, Leaves>>(reshard, detail::path{}, tree);
  } else {
    return tree;
  }
}

}  // namespace ostraka
