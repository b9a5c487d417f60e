// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 1. Axes of tensors and of meshes: a name, and an extent if it is known while compiling.
///
///     OSTRAKA_AXIS(I);  OSTRAKA_AXIS(D, 5120);  OSTRAKA_MESH_AXIS(X);  OSTRAKA_MESH_AXIS(Y, 4);

#include <concepts>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <ostraka/types/fixed_string.hpp>
#include <ostraka/types/reasons.hpp>

namespace ostraka {

/// The extent of an axis that is known only when the program runs.
inline constexpr std::int64_t dynamic_extent = -1;

namespace detail {
struct axis_base {};
struct mesh_axis_base {};
}  // namespace detail

/// A named axis of a tensor. Axes are told apart by the derived type, not by the name: derive and declare one object of it.
template <fixed_string Name, std::int64_t Extent = dynamic_extent>
struct axis : detail::axis_base {
  constexpr axis() { reason::raise<std::conditional_t<(Extent >= dynamic_extent), reason::ok, reason::negative_extent<Extent>>>(); }

  static constexpr std::string_view name = Name.view();
  static constexpr std::int64_t extent = Extent;
};

/// A named axis of the device mesh. On a running mesh it is found by its name.
template <fixed_string Name, std::int64_t Size = dynamic_extent>
struct mesh_axis : detail::mesh_axis_base {
  constexpr mesh_axis() { reason::raise<std::conditional_t<(Size == dynamic_extent || Size > 0), reason::ok, reason::negative_extent<Size>>>(); }

  static constexpr std::string_view name = Name.view();
  static constexpr std::int64_t extent = Size;
};

/// A type declared by OSTRAKA_AXIS or derived from os::axis by hand.
template <class T>
concept Axis = std::derived_from<T, detail::axis_base>;

/// A type declared by OSTRAKA_MESH_AXIS or derived from os::mesh_axis by hand.
template <class T>
concept MeshAxis = std::derived_from<T, detail::mesh_axis_base>;

/// An extent with its name: what `I = 1024` and `X = 2` are.
template <class Named>
  requires Axis<Named> || MeshAxis<Named>
struct named_extent {
  using named = Named;
  std::int64_t value;

  template <std::integral N>
  constexpr named_extent(Named, N n) : value(static_cast<std::int64_t>(n)) {}
};

}  // namespace ostraka

/// Declares the axis type `name_axis` and the object `name`, at namespace scope; a second argument is its extent.
#define OSTRAKA_AXIS(name, ...) \
  OSTRAKA_NAMED_(axis, name, name##_axis __VA_OPT__(, ) __VA_ARGS__)

/// Declares the mesh-axis type `name_mesh` and the object `name`, at namespace scope; a second argument is its size.
#define OSTRAKA_MESH_AXIS(name, ...) \
  OSTRAKA_NAMED_(mesh_axis, name, name##_mesh __VA_OPT__(, ) __VA_ARGS__)

// Type and object differ in name because nvcc loses a type that is hidden by a variable of the same name.
#define OSTRAKA_NAMED_(base, object, type, ...)                                                    \
  struct type : ::ostraka::base<#object __VA_OPT__(, ) __VA_ARGS__> {                              \
    template <::std::integral N>                                                                   \
    constexpr auto operator=(N n) const {                                                          \
      return ::ostraka::named_extent<type>(*this, n);                                              \
    }                                                                                              \
  };                                                                                               \
  inline constexpr type object {}
