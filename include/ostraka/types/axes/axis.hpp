// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 1. Axes of tensors and of meshes: a name, and an extent if it is known at compile time.
///
///     OSTRAKA_AXIS(I);  OSTRAKA_AXIS(D, 5120);  OSTRAKA_MESH_AXIS(X);  OSTRAKA_MESH_AXIS(Y, 4);
///     OSTRAKA_AXIS(S, os::about(512));          extent known only at run time; plans are made for 512

#include <concepts>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <ostraka/types/axes/one_extent.hpp>
#include <ostraka/types/reasons.hpp>
#include <ostraka/types/support/fixed_string.hpp>
#include <ostraka/types/support/type_list.hpp>

namespace ostraka {

/// The extent of an axis that is known only when the program runs.
inline constexpr std::int64_t dynamic_extent = -1;

/// The approximate extent of an axis. Plans are made for it, but the actual extent may differ.
struct extent_hint {
  std::int64_t value;
};

/// A hint for an extent: `OSTRAKA_AXIS(S, os::about(512))`, and the same for a mesh axis.
[[nodiscard]] consteval extent_hint about(std::integral auto n) { return {static_cast<std::int64_t>(n)}; }

namespace detail {
struct axis_base {
  static constexpr char const* kind_of_axis = "axis";
};
struct mesh_axis_base {
  static constexpr char const* kind_of_axis = "mesh axis";
};

/// The second argument of an axis, after its name: an extent or a hint.
template <class T>
concept extent_or_hint = std::integral<T> || std::same_as<T, extent_hint>;

// Other arguments have no known extent; their error has already been raised.
consteval std::int64_t extent_in_type(auto) { return dynamic_extent; }
consteval std::int64_t extent_in_type(std::integral auto n) { return static_cast<std::int64_t>(n); }
consteval std::int64_t planned_in_type(auto) { return dynamic_extent; }
consteval std::int64_t planned_in_type(std::integral auto n) { return static_cast<std::int64_t>(n); }
consteval std::int64_t planned_in_type(extent_hint hint) { return hint.value; }

// True if an axis can have this extent: at least `least`, or dynamic. A hint is positive.
consteval bool can_be_extent(std::int64_t n, std::int64_t least) { return n >= least || n == dynamic_extent; }
consteval bool can_be_extent(extent_hint hint, std::int64_t) { return hint.value > 0; }

template <auto Extent, std::int64_t Least>
consteval auto check_extent() {
  if constexpr (!extent_or_hint<type_of<Extent>>)
    return found<reason::extent_is_not_whole<type_of<Extent>>>{};
  else if constexpr (!can_be_extent(Extent, Least))
    return found<reason::negative_extent<planned_in_type(Extent)>>{};
  else
    return found<reason::ok>{};
}

// Returns true. Raises the reason itself if the extent is wrong.
template <auto Extent, std::int64_t Least>
consteval bool require_extent() {
  reason::raise<typename decltype(check_extent<Extent, Least>())::type>();
  return true;
}
}  // namespace detail

/// A named axis of a tensor. The derived type, not the name, identifies an axis: derive a type and declare one object
/// of it. Only OSTRAKA_AXIS also compares the extents that several files of a program declare (one_extent.hpp). The
/// class and all classes derived from it are aggregates, because nvcc writes a template value as nested braces.
template <fixed_string Name, auto Extent = dynamic_extent>
struct axis : detail::axis_base {
  static_assert(detail::require_extent<Extent, 0>());

  static constexpr std::string_view name = Name.view();
  static constexpr std::int64_t extent = detail::extent_in_type(Extent);
  static constexpr std::int64_t planned_extent =
      detail::planned_in_type(Extent);  ///< the extent or the hint; dynamic_extent without either
};

/// A named axis of the device mesh. A running mesh looks it up by its name.
template <fixed_string Name, auto Size = dynamic_extent>
struct mesh_axis : detail::mesh_axis_base {
  static_assert(detail::require_extent<Size, 1>());

  static constexpr std::string_view name = Name.view();
  static constexpr std::int64_t extent = detail::extent_in_type(Size);
  static constexpr std::int64_t planned_extent = detail::planned_in_type(Size);
};

/// A type declared by OSTRAKA_AXIS or derived from os::axis by hand.
template <class T>
concept Axis = std::is_base_of_v<detail::axis_base, T>;

/// A type declared by OSTRAKA_MESH_AXIS or derived from os::mesh_axis by hand.
template <class T>
concept MeshAxis = std::is_base_of_v<detail::mesh_axis_base, T>;

/// An axis of a block that is padded with its neighbours' indices: types/shardings/halo.hpp.
template <class A, int Before, int Behind = Before>
struct halo_axis;

/// An extent with its name: the value of `I = 1024` and `X = 2`.
template <class Named>
  requires Axis<Named> || MeshAxis<Named>
struct named_extent {
  using named = Named;
  std::int64_t value;

  template <std::integral N>
  constexpr named_extent(Named, N n) : value(static_cast<std::int64_t>(n)) {}
};

namespace detail {

/// The extent of a block with its name and its origin: the value of `I = block.extent(I)`.
template <class Named, class Extent>
struct named_own_extent : named_extent<Named> {
  Extent own;
};

/// The base from which OSTRAKA_AXIS derives an axis: `I = 1024` gives an extent a name. The operator is in a base,
/// because local classes cannot have member templates.
template <class Named, class Base>
struct declared : Base {
  template <std::integral N>
  constexpr auto operator=(N n) const {
    return named_extent<Named>(Named{}, n);
  }
  template <class Extent>
    requires requires(Extent const& e) { e.origin(); }
  constexpr auto operator=(Extent const& e) const {
    return named_own_extent<Named, Extent>{{Named{}, static_cast<std::int64_t>(e)}, e};
  }
};

// True if the name of an axis and the preprocessor's version of it are equal. They differ if a macro has that name.
consteval bool is_same_text(std::string_view a, std::string_view b) { return a == b; }

}  // namespace detail

}  // namespace ostraka

/// Declares the axis type `name_axis` and its object `name`, at namespace scope, in a class or in a function. A second
/// argument is its extent, or a hint: `os::about(512)`.
#define OSTRAKA_AXIS(name, ...) OSTRAKA_NAMED_(axis, name, #name, name##_axis __VA_OPT__(, ) __VA_ARGS__)

/// Declares the mesh-axis type `name_mesh` and its object `name`, at namespace scope, in a class or in a function. A
/// second argument is its size.
#define OSTRAKA_MESH_AXIS(name, ...) OSTRAKA_NAMED_(mesh_axis, name, #name, name##_mesh __VA_OPT__(, ) __VA_ARGS__)

// Type and object have different names because nvcc cannot find a type that is hidden by a variable of the same name.
// If a macro has the axis' name, like the I of C's <complex.h>, it has been replaced in `object` but not in `text`.
#define OSTRAKA_NAMED_(base, object, text, type, ...)                                                             \
  static_assert(::ostraka::detail::is_same_text(#object, text),                                                   \
                "axis: the name of an axis is no macro's, and "                                                   \
                "this one is, as I is of C's <complex.h>; #undef it behind that header, or choose another name"); \
  struct type : ::ostraka::detail::declared<type, ::ostraka::base<text __VA_OPT__(, ) __VA_ARGS__>> {             \
    using type::declared::operator=;                                                                              \
  };                                                                                                              \
  [[maybe_unused]] static constexpr type const& object =                                                          \
      ::ostraka::detail::declare<type>(::ostraka::detail::has_one_extent<type>)
