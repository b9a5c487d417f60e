// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 1. Blocks of the local view: in the body of os::shard_map a device holds a tensor of its own, which may differ
/// from the other devices'. `os::varying(X)` names the mesh axes along which it may differ: `float[I, J] {V_X}`. Only
/// types record this; plans ignore it.

#include <type_traits>

#include <ostraka/types/axes/axis.hpp>
#include <ostraka/types/shardings/partial.hpp>
#include <ostraka/types/support/type_list.hpp>

namespace ostraka {

namespace detail {
struct varying_base {};
}  // namespace detail

/// The block may differ along `Ms`. The value of `os::varying(X, Y)`.
template <MeshAxis... Ms>
struct varying : detail::varying_base {
  using mesh_axes = type_list<Ms...>;
  constexpr explicit varying(Ms...) {}
};
template <MeshAxis... Ms>
varying(Ms...) -> varying<Ms...>;

/// The mesh axes over which a value varies: os::varying.
template <class T>
concept Varying = std::is_base_of_v<detail::varying_base, T>;

namespace detail {

// The single entry for this set of mesh axes; no entry if the set is empty.
template <class Sorted>
struct varying_over;

template <>
struct varying_over<type_list<>> {
  using type = type_list<>;
};
template <class... Ms>
  requires(sizeof...(Ms) > 0)
struct varying_over<type_list<Ms...>> {
  using type = type_list<varying<Ms...>>;
};

template <class MeshAxes>
using varying_entry = typename varying_over<typename sort_by_name<type_list<>, MeshAxes>::type>::type;

}  // namespace detail

}  // namespace ostraka
