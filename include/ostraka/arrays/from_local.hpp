// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::from_local<float, I/X, J>(mesh, I = 1024, J = 8, view)` makes an existing block the block of a tensor,
/// without a copy.

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include <ostraka/arrays/block_position.hpp>
#include <ostraka/arrays/given_array.hpp>
#include <ostraka/blocks/create.hpp>
#include <ostraka/calls/context.hpp>
#include <ostraka/engine/agreement/adopted_block.hpp>

namespace ostraka {

/// An option among the extents of os::from_local: each device checks only its own block, and nothing is sent.
struct unchecked_by_others {};
inline constexpr unchecked_by_others unchecked{};

namespace detail {

// The type of the tensor for a block: read only if the block is.
template <class TensorType, class Array>
using tensor_on =
    basic_tensor<std::conditional_t<std::is_const_v<typename given_array<Array>::element>,
                                    typename TensorType::value_type const, typename TensorType::element_type>,
                 typename TensorType::sharding_type, typename TensorType::space>;

template <class TensorType, class Array>
inline constexpr bool can_be_block =
    holds_block<TensorType, Array> && is_one_of<typename given_array<Array>::memory, memory_of_tensor,
                                                typename TensorType::view_type::memory_space>;

// True if the view of a tensor keeps the memory of this array alive.
template <class View, class Array>
consteval bool is_kept() {
  if constexpr (ViewOfBlock<Array> && std::is_convertible_v<Array, View>) {
    using layout = typename Array::array_layout;
    return std::is_same_v<layout, Kokkos::LayoutRight> ||
           (static_cast<int>(View::rank) < 2 && std::is_same_v<layout, Kokkos::LayoutLeft>);
  } else {
    return false;
  }
}

template <class Array>
inline constexpr bool is_in_order = false;
template <class Given, class... Is>
inline constexpr bool is_in_order<array_in_order<Given, Is...>> = true;

// True if an array owns its elements, as a std::vector does: those of a temporary would die with it. The elements of a
// constant owner are constant; those of a constant std::span are not.
template <class View, class Array>
consteval bool owns_elements() {
  if constexpr (ListOfBlock<Array>)
    return !std::is_same_v<decltype(std::declval<Array&>().data()), decltype(std::declval<Array const&>().data())> ||
           std::is_const_v<Array>;
  else if constexpr (ViewOfBlock<Array>)
    return !is_kept<View, Array>() && !Array::traits::memory_traits::is_unmanaged;
  else if constexpr (is_in_order<std::remove_const_t<Array>>)
    return !std::is_reference_v<decltype(Array::array)> && owns_elements<void, decltype(Array::array)>();
  else
    return false;
}

// `Given` is a reference if the argument has a name.
template <class TensorType, class Given>
consteval auto check_block() {
  using array = std::remove_reference_t<Given>;
  if constexpr (!can_be_block<TensorType, array>)
    return found<reason::not_a_block<std::remove_cv_t<array>, TensorType>>{};
  else if constexpr (!has_axes<TensorType, array>)
    return found<reason::array_of_other_axes<std::remove_cv_t<array>, typename TensorType::sharding_type>>{};
  else if constexpr (!std::is_reference_v<Given> &&
                     owns_elements<typename tensor_on<TensorType, array>::view_type, array>())
    return found<reason::block_is_temporary<std::remove_cv_t<array>>>{};
  else
    return found<reason::ok>{};
}

template <class... Given>
using position_verdict =
    first_fault<std::conditional_t<is_position<Given>, reason::block_begins_elsewhere<Given>, reason::ok>...>;

template <class TensorType, class Given>
using block_verdict = typename decltype(check_block<TensorType, Given>())::type;

// A view that keeps the memory alive if the array does, else one that does not.
template <class View, class Array, std::size_t... Ds>
View block_view(Array& array, std::int64_t const* extents, std::index_sequence<Ds...>) {
  if constexpr (is_kept<View, Array>())
    return array;
  else
    return View(data_of(array), static_cast<std::size_t>(extents[Ds])...);
}

template <class T>
inline constexpr bool is_unchecked = std::is_same_v<T, unchecked_by_others>;

template <class Given>
using extent_beside_unchecked = given_beside<is_unchecked<Given>, Given>;

// The extents of a tensor and of this device's block, and the layout of the block in the array.
template <class TensorType>
struct inspected_array {
  typename TensorType::extents_type extents;
  std::int64_t wanted[max_rank]{};
  engine::strided given;
};

// A tensor of these extents without a block. The arguments are extents and perhaps os::unchecked; without it, the
// devices compare their calls.
template <class TensorType, class Mesh, class... Extents>
TensorType compared_shape(char const* operation, Mesh const& m, Extents const&... given) {
  auto const extents = collect_sizes(extents_beside<is_unchecked<Extents>>(given)...);
  TensorType shape(m.handle(), checked_extents<TensorType>(typename TensorType::axes{}, extents, operation),
                   typename TensorType::view_type());
  set_given_origins(operation, shape, typename TensorType::axes{}, varying_in<TensorType>{}, given...);
  if constexpr (!(is_unchecked<Extents> || ...)) {
    constexpr planner::spec s = spec_of<TensorType, typename TensorType::axes, typename TensorType::mesh_axes>;
    if (!m.absent())
      engine::require_same_call<typename TensorType::value_type>(compared_context_of(operation, shape), s);
  }
  return shape;
}

// Describes an array and the block of a tensor that it holds. `adjust(extents, wanted)` changes the extents of the
// device's block, `wanted`, to those that its array has; it may be collective over the mesh.
// @throws ostraka::error, on all devices alike, if the array does not have the extents of the block or the layout that
// `how` demands
template <class TensorType, class Adjust, class Mesh, class Array, class... Extents>
inspected_array<TensorType> inspect_array(char const* operation, engine::demand how, Adjust const& adjust,
                                          Mesh const& m, Array& array, Extents const&... given) {
  constexpr int rank = TensorType::rank;
  TensorType const shape = compared_shape<TensorType>(operation, m, given...);
  inspected_array<TensorType> seen{shape.extents(), {}, {}};
  for (int d = 0; d < rank; ++d) seen.wanted[d] = shape.range(d).size();
  adjust(seen.extents, seen.wanted);
  seen.given = describe_block(typename TensorType::axes{}, array, seen.wanted);
  engine::require_block(operation, how, *m.handle(), seen.given, seen.wanted, rank, missing_alignment(array),
                        !(is_unchecked<Extents> || ...));
  return seen;
}

template <class TensorType, class Mesh, class Array, class... Extents>
inspected_array<TensorType> inspect_block(char const* operation, engine::demand how, Mesh const& m, Array& array,
                                          Extents const&... given) {
  return inspect_array<TensorType>(
      operation, how, [](auto const&, auto const&) {}, m, array, given...);
}

template <class TensorType, class Mesh, class Array, class Arguments, std::size_t... Is>
TensorType adopt(Mesh const& m, Array& array, Arguments const& arguments, std::index_sequence<Is...>) {
  auto const seen =
      inspect_block<TensorType>("from_local", engine::demand::row_major, m, array, std::get<Is>(arguments)...);
  TensorType t(m.handle(), seen.extents,
               block_view<typename TensorType::view_type>(
                   array, seen.wanted, std::make_index_sequence<static_cast<std::size_t>(TensorType::rank)>{}));
  set_given_origins("from_local", t, typename TensorType::axes{}, varying_in<TensorType>{}, std::get<Is>(arguments)...);
  return t;
}

template <class TensorType, class Given, class Mesh, class Arguments, std::size_t... Is>
auto checked_adopt(Mesh const& m, Arguments const& arguments, std::index_sequence<Is...> extents) {
  using array = std::remove_reference_t<Given>;
  using result = tensor_on<TensorType, array>;
  using writable =
      basic_tensor<typename TensorType::value_type, typename TensorType::sharding_type, typename TensorType::space>;
  using verdict = first_fault<
      position_verdict<std::remove_cvref_t<std::tuple_element_t<Is, Arguments>>...>,
      creation_verdict<writable, Mesh,
                       extent_beside_unchecked<std::remove_cvref_t<std::tuple_element_t<Is, Arguments>>>...>,
      block_verdict<TensorType, Given>>;
  if constexpr (reason::ok_or_raise<verdict>())
    return adopt<result>(m, std::get<sizeof...(Is)>(arguments), arguments, extents);
  else
    return after_error_of<typename TensorType::value_type, typename TensorType::sharding_type,
                          typename TensorType::space>();
}

}  // namespace detail

/// Adopts this device's block as the block of a new tensor. The block comes last, after the global extents, and is
/// row-major without gaps in the order of the axes: a Kokkos::View or mdspan of any layout with a dimension for each
/// axis, the elements in a std::span or std::vector, os::strided memory, or one of these whose dimensions come in
/// another order, os::in_order<J, I>(view). Never copies: a block of another layout is refused; copy it with
/// os::copy_from_local. Shallow: tensor and array see each other's writes. If the elements are constant, the tensor is
/// read only, `os::tensor<float const, I/X>`. The tensor keeps the memory of a LayoutRight view alive; any other memory
/// has to outlive it. Collective over the mesh, unless os::unchecked is among the extents: then nothing is sent, and an
/// error is thrown on its device alone.
/// @throws ostraka::error, on all devices alike, if a block does not have the extents that its device holds, is not
/// row-major, or has elements of std::complex that are not aligned as Kokkos::complex
template <class T, auto... Dims, class Mesh, class... ExtentsThenBlock>
  requires(!detail::names_ghosts<Dims...>)  // local_view/halos/adopt_ghosted.hpp
[[nodiscard]] auto from_local([[maybe_unused]] Mesh const& m,
                              [[maybe_unused]] ExtentsThenBlock&&... extents_then_block) {
  using tensor_type = typename detail::named_tensor<T, Dims...>::type;
  using last = detail::last_of<ExtentsThenBlock...>;
  if constexpr (detail::names_extents<std::remove_cvref_t<last>>) {
    reason::raise<reason::view_comes_last<std::remove_cvref_t<last>>>();
    return detail::after_error_of<typename tensor_type::value_type, typename tensor_type::sharding_type,
                                  typename tensor_type::space>();
  } else {
    return detail::checked_adopt<tensor_type, last>(m, std::forward_as_tuple(extents_then_block...),
                                                    std::make_index_sequence<sizeof...(ExtentsThenBlock) - 1>{});
  }
}

/// Does not compile: the error says that the element type comes first.
template <auto... Dims, class... Arguments>
auto from_local(Arguments const&...) {
  return detail::element_type_missing<Arguments...>();
}

}  // namespace ostraka
