// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. What all ways of making a tensor share: which mesh, which extents, and the checks of both.

#include <array>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>

#include <ostraka/tensor.hpp>

namespace ostraka::detail {

// The tensor that `zeros<T, dims…>` names: T is an element type, or a tensor type and then without dims.
template <class T, auto... Dims>
struct named_tensor {
  using type = tensor<T, Dims...>;
};

template <Tensor T>
struct named_tensor<T> {
  using type = T;
};

template <class T>
inline constexpr bool is_sizes = false;
template <class... Named>
inline constexpr bool is_sizes<sizes<Named...>> = true;

// An extent that is written out has to be one of the tensor's; an os::sizes may hold more than is asked for.
template <class TensorType, class Given>
consteval void require_own(std::type_identity<Given>) {
  if constexpr (!is_sizes<Given>) {
    using named = typename Given::named;
    if constexpr (position_in<named, typename TensorType::axes> < 0)
      reason::raise<reason::extent_of_foreign_axis<named>>();
  }
}

template <class Mesh, class List>
struct unknown_on;

template <class... Ms, class... Used>
struct unknown_on<mesh<Ms...>, type_list<Used...>> {
  using strangers = difference_of<type_list<Used...>, type_list<Ms...>>;
  template <class List>
  struct verdict {
    using type = reason::ok;
  };
  template <class M, class... More>
  struct verdict<type_list<M, More...>> {
    using type = reason::unknown_mesh_axis<M, mesh<Ms...>>;
  };
  using type = typename verdict<strangers>::type;
};

template <class A, class Sizes>
std::int64_t checked_extent(Sizes const& given, char const* operation) {
  std::int64_t const n = required_extent<A>(given);
  if (A::extent != dynamic_extent && n != A::extent)
    throw error(std::string(operation) + ": the axis " + std::string(A::name) + " has the static extent " + std::to_string(A::extent) + ", but " +
                std::to_string(n) + " was given; leave it out or give that extent");
  if (n < 0)
    throw error(std::string(operation) + ": an extent is not negative, but " + std::string(A::name) + " = " + std::to_string(n) + " was given; give 0 for an empty axis");
  return n;
}

template <class... As, class Sizes>
auto checked_extents(type_list<As...>, Sizes const& given, [[maybe_unused]] char const* operation) {
  return std::array<std::int64_t, sizeof...(As)>{checked_extent<As>(given, operation)...};
}

// Checks that need types only, for a tensor made on a mesh with these arguments.
template <class TensorType, class Mesh, class... Given>
consteval void check_creation() {
  reason::raise<typename sharding_traits<typename TensorType::sharding_type>::verdict>();
  reason::raise<typename unknown_on<Mesh, typename TensorType::mesh_axes>::type>();
  (require_own<TensorType>(std::type_identity<Given>{}), ...);
}

/// A fresh tensor on the mesh, its elements not yet set.
template <class TensorType, class Mesh, class... Given>
TensorType make_uninitialised(char const* operation, Mesh const& m, Given const&... given) {
  check_creation<TensorType, Mesh, Given...>();
  return allocate<TensorType>(m.handle(), checked_extents(typename TensorType::axes{}, collect_sizes(given...), operation));
}

// A partial tensor holds summands, not values.
template <class TensorType, class Operation>
consteval void require_values() {
  using partials = typename sharding_traits<typename TensorType::sharding_type>::partials;
  if constexpr (partials::size > 0) reason::raise<reason::partial_in_nonlinear_operation<typename type_at<partials, 0>::type, Operation>>();
}

}  // namespace ostraka::detail
