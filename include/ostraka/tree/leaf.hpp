// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The leaves of a tree. A tree is a plain struct, templated on the policy of its leaves:
///
///     template <class L>
///     struct mlp {
///       os::leaf<L, double, in/X, hidden> w1;
///       os::leaf<L, double, hidden> b1;
///     };
///
/// mlp<os::values> holds tensors; mlp<os::names> holds only the types that they would have. A leaf policy is any class
/// with a member template `leaf<T, Sharding>`, so that a program can put other types in the same places.

#include <ostraka/tensors/tensor.hpp>

namespace ostraka {

/// The name of a leaf: its element type and its sharding, without elements.
template <class T, class Sharding>
struct leaf_name {
  using value_type = T;                                             ///< the element type
  using sharding_type = Sharding;                                   ///< the canonical os::sharding
  using axes = typename sharding_traits<Sharding>::axes;            ///< the list of its axes
  using mesh_axes = typename sharding_traits<Sharding>::mesh_axes;  ///< the list of the mesh axes that it names
  static constexpr int rank = axes::size;                           ///< the number of its axes

  friend constexpr bool operator==(leaf_name, leaf_name) = default;
};

/// The leaf policy of tensors in Kokkos' default memory.
struct values {
  template <class T, class Sharding>
  using leaf = basic_tensor<T, Sharding, Kokkos::DefaultExecutionSpace::device_type>;
};

/// The leaf policy of tensors of element type U instead of the struct's: 16-bit copies of parameters, double sums of
/// gradients.
template <class U, class Space = Kokkos::DefaultExecutionSpace::device_type>
struct values_of {
  template <class T, class Sharding>
  using leaf = basic_tensor<typename detail::element<U>::type, Sharding, Space>;
};

/// The leaf policy of names: each leaf is the type that it would have, without elements.
struct names {
  template <class T, class Sharding>
  using leaf = leaf_name<T, Sharding>;
};

/// The leaf policy with one type in every leaf: an mlp<os::each<double>> can hold the norms of parameters.
template <class R>
struct each {
  template <class T, class Sharding>
  using leaf = R;
};

/// A leaf in a struct that is a tree: `os::leaf<L, double, in/X, hidden>`; under rules `os::leaf<L, double, S(in,
/// hidden)>`.
template <class L, class T, auto... Dims>
using leaf = typename L::template leaf<typename detail::element<T>::type, detail::checked_sharding_of<T, Dims...>>;

namespace detail {

// Takes types, although dimensions are values elsewhere: nvcc 13 exits without a message if one of the values is a
// sharding.
template <class T, class... Dims>
using checked_stack = typename checked_sharding<canonical_sharding<Dims...>,
                                                require_well_sharded<T, canonical_sharding<Dims...>>()>::type;

}  // namespace detail

/// The leaf policy of stacked layers: these dimensions come before a leaf's own. If `layer` is the struct of one layer,
/// a pipeline has `layer<os::stacked<L, depth/Z>> layers`, w[depth_Z, I, J], where another program has
/// `std::vector<layer<L>> layers`, of w[I, J]. Layer n of the stack has index n along these axes, counted row-major. A
/// nested struct gets the same policy; if it stacks further dimensions, they come after these.
template <class L, auto... Dims>
struct stacked {
  template <class T, class Sharding>
  using leaf = typename L::template leaf<T, detail::checked_stack<T, detail::type_of<Dims>..., Sharding>>;
};

namespace detail {

template <template <class, class> class>
struct leaf_template {};

template <class T>
inline constexpr bool is_leaf_name = false;
template <class T, class Sharding>
inline constexpr bool is_leaf_name<leaf_name<T, Sharding>> = true;

}  // namespace detail

/// A leaf policy: a class with a member template `leaf<T, Sharding>`.
template <class L>
concept LeafPolicy = requires {
  typename detail::leaf_template<L::template leaf>;
};

}  // namespace ostraka
