// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Copies between this device's block and an array of the application, of any layout, in any memory.
/// `os::copy_from_local<float, I/X, J>(mesh, I = 1024, J = 8, view)` makes a new tensor; `os::copy_to_local(A, view)`
/// copies back into an array. Nothing is moved between devices.

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include <ostraka/arrays/from_local.hpp>
#include <ostraka/engine/blocks/copy_across.hpp>

namespace ostraka {

namespace detail {

template <class TensorType, class Array>
consteval auto check_array() {
  if constexpr (!holds_block<TensorType, Array>)
    return found<reason::not_an_array_of_the_tensor<std::remove_cv_t<Array>, TensorType>>{};
  else if constexpr (!has_axes<TensorType, Array>)
    return found<reason::array_of_other_axes<std::remove_cv_t<Array>, typename TensorType::sharding_type>>{};
  else
    return found<reason::ok>{};
}

// `reason::ok`, or the reason why such a block cannot be copied from this array.
template <class TensorType, class Array>
using array_verdict = typename decltype(check_array<TensorType, Array>())::type;

template <class TensorType, class Array>
consteval auto check_array_to_write() {
  using element = typename given_array<Array>::element;
  if constexpr (!std::is_same_v<array_verdict<TensorType, Array>, reason::ok>)
    return found<array_verdict<TensorType, Array>>{};
  else if constexpr (std::is_const_v<element>)
    return found<reason::elements_are_constant<element>>{};
  else
    return found<reason::ok>{};
}

template <class TensorType, class Array>
using written_array_verdict = typename decltype(check_array_to_write<TensorType, Array>())::type;

// The execution space that copies from an array.
template <class TensorType, class Memory>
struct space_of_array {
  using type = typename Memory::execution_space;
};
template <class TensorType>
struct space_of_array<TensorType, memory_of_tensor> {
  using type = execution_space_type<TensorType>;
};
template <class TensorType, class Array>
auto execution_space_of_array() {
  return engine::instance<typename space_of_array<TensorType, typename given_array<Array>::memory>::type>();
}

template <class TensorType>
engine::strided layout_of_tensor(TensorType const& t) {
  std::int64_t extent[max_rank + 1]{};
  for (int d = 0; d < TensorType::rank; ++d)
    extent[d] = static_cast<std::int64_t>(t.local().extent(static_cast<std::size_t>(d)));
  return engine::row_major(extent, TensorType::rank);
}

template <class TensorType, class Mesh, class Array, class... Extents>
TensorType copied_from(char const* operation, Mesh const& m, Array& array, Extents const&... extents) {
  using value = typename TensorType::value_type;
  engine::require_not_ended(operation);
  auto const seen = inspect_block<TensorType>(operation, engine::demand::any, m, array, extents...);
  auto t = allocate<TensorType>(m.handle(), seen.extents);
  set_given_origins(operation, t, typename TensorType::axes{}, varying_in<TensorType>{}, extents...);
  profiled_block<TensorType> const region_of_run(operation, t, "reads and writes", 2);
  engine::copy_across(execution_space_of<TensorType>(), t.local().data(), layout_of_tensor(t),
                      execution_space_of_array<TensorType, Array>(), static_cast<value const*>(data_of(array)),
                      layout_of_block(seen.given, seen.wanted, TensorType::rank));
  return t;
}

template <class TensorType, class Array, class Mesh, class Arguments, std::size_t... Is>
auto checked_copy_from(Mesh const& m, Arguments const& arguments, std::index_sequence<Is...>) {
  using verdict = first_fault<
      creation_verdict<TensorType, Mesh,
                       extent_beside_unchecked<std::remove_cvref_t<std::tuple_element_t<Is, Arguments>>>...>,
      array_verdict<TensorType, Array>>;
  if constexpr (reason::ok_or_raise<verdict>())
    return copied_from<TensorType>("copy_from_local", m, std::get<sizeof...(Is)>(arguments),
                                   std::get<Is>(arguments)...);
  else
    return after_error_of<typename TensorType::value_type, typename TensorType::sharding_type,
                          typename TensorType::space>();
}

template <bool AskOthers, class A, class Array>
void copy_to(A const& a, Array& array) {
  using value = typename A::value_type;
  constexpr int rank = A::rank;
  engine::device_mesh const& mesh = *common_mesh("copy_to_local", a);
  if constexpr (AskOthers) {
    constexpr planner::spec s = spec_of<A, axes_in<A>, mesh_axes_in<A>>;
    if (!mesh.absent())
      engine::require_same_call<value>(compared_context_of("copy_to_local", a), s);
  }
  engine::strided const lies = layout_of_tensor(a);
  engine::strided const given = describe_block(axes_in<A>{}, array, lies.extent);
  engine::require_block("copy_to_local", engine::demand::unique, mesh, given, lies.extent, rank,
                        missing_alignment(array), AskOthers);
  profiled_block<A> const region_of_run("copy_to_local", a, "reads and writes", 2);
  engine::copy_across(execution_space_of_array<A, Array>(), data_of(array), layout_of_block(given, lies.extent, rank),
                      execution_space_of<A>(), elements_of(a), lies);
}

}  // namespace detail

/// A new tensor with a copy of this device's block. The block comes last, after the global extents, and is only read: a
/// Kokkos::View or mdspan of any layout, in any memory, with a dimension for each axis, a row-major std::span or
/// std::vector, os::strided memory, os::in_order<J, I>(view). Collective over the mesh, unless os::unchecked is among
/// the extents.
/// @throws ostraka::error, on all devices alike, if a block does not have the extents that its device holds
template <class T, auto... Dims, class Mesh, class... ExtentsThenBlock>
[[nodiscard]] auto copy_from_local([[maybe_unused]] Mesh const& m,
                                   [[maybe_unused]] ExtentsThenBlock const&... extents_then_block) {
  using named = typename detail::named_tensor<T, Dims...>::type;
  using tensor_type = basic_tensor<typename named::value_type, typename named::sharding_type, typename named::space>;
  using last = detail::last_of<ExtentsThenBlock...>;
  if constexpr (detail::names_extents<last>) {
    reason::raise<reason::view_comes_last<last>>();
    return detail::after_error_of<typename tensor_type::value_type, typename tensor_type::sharding_type,
                                  typename tensor_type::space>();
  } else {
    return detail::checked_copy_from<tensor_type, last const>(
        m, std::forward_as_tuple(extents_then_block...), std::make_index_sequence<sizeof...(ExtentsThenBlock) - 1>{});
  }
}

/// Does not compile: the error says that the element type comes first.
template <auto... Dims, class... Arguments>
auto copy_from_local(Arguments const&...) {
  return detail::element_type_missing<Arguments...>();
}

/// Copies this device's block into an array of the application: any that os::copy_from_local takes. If the tensor is
/// partial, it copies this device's part. Collective over the mesh, because the devices agree that all arrays fit. With
/// os::unchecked after the arrays nothing is sent, and an error is thrown on its device alone.
/// @throws ostraka::error, on all devices alike, if an array does not have the extents of its device's block
template <Tensor A, class Array>
void copy_to_local([[maybe_unused]] A const& a, [[maybe_unused]] Array&& array) {
  using given = std::remove_reference_t<Array>;
  if constexpr (reason::ok_or_raise<detail::written_array_verdict<A, given>>()) detail::copy_to<true>(a, array);
}

template <Tensor A, class Array>
void copy_to_local([[maybe_unused]] A const& a, [[maybe_unused]] Array&& array, unchecked_by_others) {
  using given = std::remove_reference_t<Array>;
  if constexpr (reason::ok_or_raise<detail::written_array_verdict<A, given>>()) detail::copy_to<false>(a, array);
}

}  // namespace ostraka
