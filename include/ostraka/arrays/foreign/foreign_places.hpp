// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The places of a program's arrays in a tensor, if the program divides it by a rule of its own:
///
///     os::at(I = begin, J = 0), view                          the box that begins there, of the view's extents
///     os::at(I = begin), os::sizes(I = 5, J = 8), os::strided(p, I = 1, J = 5)      of memory without extents
///     std::vector{os::placed(os::at(I = 0), v), os::placed(os::at(I = 7), u)}       any number of boxes, or none
///     os::block_cyclic(I = 64, J = 64), view                  the part that ScaLAPACK deals to this device

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ostraka/arrays/block_position.hpp>
#include <ostraka/arrays/given_array.hpp>
#include <ostraka/tensors/tensor.hpp>
#include <ostraka/types/axes/sizes.hpp>

namespace ostraka {

/// Blocks of these numbers of indices, dealt to the devices of a grid in turn. `Grid`: os::dims<I/X, J/Y>, or
/// os::dims<> for the mesh axes that divide the tensor.
template <class Grid, class... Is>
struct dealt_blocks {
  sizes<Is...> block;
};

/// The two-dimensional block-cyclic rule of ScaLAPACK, for any number of axes. Blocks of `I = …` indices go to the
/// devices of a process grid in turn, the first block to the first device. An axis that is not divided needs no number.
/// The grid consists of the mesh axes that divide the tensor, os::block_cyclic(I = 64, J = 64), or of the mesh axes
/// that the call names, os::block_cyclic<I/X, J/Y>(I = 64, J = 64). On the mesh {X: P, Y: Q} it is ScaLAPACK's P × Q
/// grid in row-major order.
template <auto... Dims, class... Is>
[[nodiscard]] constexpr auto block_cyclic(named_extent<Is>... blocks) {
  return dealt_blocks<dims<Dims...>, Is...>{sizes<Is...>(blocks...)};
}

/// An array, and the indices at which it begins. `Extents`: os::sizes for strided memory, else empty.
template <class Position, class Extents, class Array>
struct placed_array {
  Position at;
  Extents extents;
  Array array;
};

namespace detail {

template <class T>
inline constexpr bool is_sizes = false;
template <class... Is>
inline constexpr bool is_sizes<sizes<Is...>> = true;

// Returns a handle of the array: a copy of a view, mdspan or strided memory; for a list, an unmanaged view of its
// elements.
template <class Array>
auto handle_of(Array& array) {
  if constexpr (ListOfBlock<Array>) {
    using element = std::remove_pointer_t<decltype(array.data())>;
    return Kokkos::View<element*, Kokkos::LayoutRight, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
        array.data(), static_cast<std::size_t>(array.size()));
  } else {
    return static_cast<std::remove_const_t<Array>>(array);
  }
}

}  // namespace detail

/// An array at a place. A range of them describes the boxes of a device. It refers to the array's elements, which have
/// to outlive it.
template <class... Is, class Array>
[[nodiscard]] auto placed(block_position<Is...> const& at, Array&& array) {
  auto const handle = detail::handle_of(array);
  return placed_array<block_position<Is...>, sizes<>, std::remove_const_t<decltype(handle)>>{at, sizes<>(), handle};
}

/// The same for memory that has no extents: os::placed(os::at(I = 4), os::sizes(I = 3, J = 8), os::strided(p, …)).
template <class... Is, class... Es, class Array>
[[nodiscard]] auto placed(block_position<Is...> const& at, sizes<Es...> const& extents, Array&& array) {
  auto const handle = detail::handle_of(array);
  return placed_array<block_position<Is...>, sizes<Es...>, std::remove_const_t<decltype(handle)>>{at, extents, handle};
}

namespace detail {

template <class T>
inline constexpr bool is_block_cyclic = false;
template <class Grid, class... Is>
inline constexpr bool is_block_cyclic<dealt_blocks<Grid, Is...>> = true;

template <class T>
inline constexpr bool is_placed = false;
template <class Position, class Extents, class Array>
inline constexpr bool is_placed<placed_array<Position, Extents, Array>> = true;

// A range of placed arrays, and the type of its elements.
template <class T>
concept PlacedRange = requires(T const& t) {
  t.begin() != t.end();
  requires is_placed<std::remove_cvref_t<decltype(*t.begin())>>;
};
template <class Range>
using placed_in = std::remove_cvref_t<decltype(*std::declval<Range const&>().begin())>;

// One placed array as a range.
template <class Placed>
struct single_placed {
  Placed one;
  Placed const* begin() const { return &one; }
  Placed const* end() const { return &one + 1; }
};
template <class Placed>
single_placed(Placed) -> single_placed<Placed>;

// The mesh axes over which blocks are distributed.
template <class TensorType, class Grid>
struct grid_of {
  using type = TensorType;
};
template <class TensorType, auto Dim, auto... Dims>
struct grid_of<TensorType, dims<Dim, Dims...>> {
  using type = tensor<typename TensorType::value_type, Dim, Dims...>;
};

template <class Position>
struct axes_of_position;
template <class... Is>
struct axes_of_position<block_position<Is...>> {
  using type = type_list<Is...>;
};
template <class Grid, class... Is>
struct axes_of_position<dealt_blocks<Grid, Is...>> {
  using type = type_list<Is...>;
};

// True for memory of which only a pointer and strides are known.
template <class Array>
inline constexpr bool has_no_extents = std::is_same_v<typename given_array<Array>::memory, memory_of_tensor>;

template <class TensorType, class Array>
consteval auto check_foreign_array() {
  if constexpr (!holds_block<TensorType, Array> || given_array<Array>::rank < 0)
    return found<reason::not_an_array_of_foreign_blocks<std::remove_cv_t<Array>, TensorType>>{};
  else if constexpr (!has_axes<TensorType, Array>)
    return found<reason::array_of_other_axes<std::remove_cv_t<Array>, typename TensorType::sharding_type>>{};
  else
    return found<reason::ok>{};
}

// `reason::ok`, or the reason why an array cannot hold the elements of a box at its place.
template <class TensorType, class Placed>
struct placed_verdict;
template <class TensorType, class Position, class Extents, class Array>
struct placed_verdict<TensorType, placed_array<Position, Extents, Array>> {
  static consteval auto check() {
    using axes = typename TensorType::axes;
    using fault = typename decltype(check_foreign_array<TensorType, Array>())::type;
    if constexpr (!std::is_same_v<fault, reason::ok>)
      return found<fault>{};
    else if constexpr (difference_of<typename axes_of_position<Position>::type, axes>::size > 0)
      return found<reason::place_of_other_axes<Position, typename TensorType::sharding_type>>{};
    else if constexpr (has_no_extents<Array> ? difference_of<axes, typename Extents::names>::size > 0
                                             : Extents::names::size > 0)
      return found<reason::sizes_of_strided_memory<Array>>{};
    else
      return found<reason::ok>{};
  }
  using type = typename decltype(check())::type;
};

// `reason::ok`, or the reason why a block-cyclic distribution does not fit the axes of the tensor. It needs a block
// size for each divided axis.
template <class TensorType, class Cyclic>
struct dealt_verdict;
template <class TensorType, class Grid, class... Is>
struct dealt_verdict<TensorType, dealt_blocks<Grid, Is...>> {
  using grid = typename grid_of<TensorType, Grid>::type;
  template <class A>
  static constexpr bool needs =
      spec_of<grid, typename grid::axes, mesh_axes_in<grid>>.over[position_in<A, typename grid::axes>].size() > 0;

  template <class... As>
  static consteval bool names_divided_axes(type_list<As...>) {
    return ((!needs<As> || is_one_of<As, Is...>)&&...);
  }
  static consteval auto check() {
    using axes = typename TensorType::axes;
    using partials = typename sharding_traits<typename grid::sharding_type>::partials;
    if constexpr (difference_of<type_list<Is...>, axes>::size > 0 || partials::size > 0 ||
                  difference_of<typename grid::axes, axes>::size > 0 || grid::axes::size != axes::size)
      return found<reason::place_of_other_axes<dealt_blocks<Grid, Is...>, typename TensorType::sharding_type>>{};
    else if constexpr (!names_divided_axes(axes{}))
      return found<reason::place_of_other_axes<dealt_blocks<Grid, Is...>, typename TensorType::sharding_type>>{};
    else
      return found<reason::ok>{};
  }
  using type = typename decltype(check())::type;
};

}  // namespace detail

}  // namespace ostraka
