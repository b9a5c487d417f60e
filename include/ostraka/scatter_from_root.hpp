// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::scatter_from_root<float, I/X, J>(mesh, I = 1024, J = 8, whole)`: the array of device 0 becomes a
/// tensor; os::gather_to_root's inverse. A[I, J] there → A[I_X, J_Y].

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include <ostraka/create.hpp>
#include <ostraka/detail/operation.hpp>
#include <ostraka/engine/blocks/scatter_blocks.hpp>
#include <ostraka/engine/moves/on_host.hpp>
#include <ostraka/on_root.hpp>

namespace ostraka {

namespace detail {

// What a whole array is: a view of the tensor's rank, or elements one after the other, of the tensor's type.
template <class Array, class TensorType>
inline constexpr bool is_whole_view = false;
template <class Array, class TensorType>
  requires(Kokkos::is_view<Array>::value)
inline constexpr bool is_whole_view<Array, TensorType> =
    static_cast<int>(Array::rank) == TensorType::rank &&
    std::is_same_v<typename element<typename Array::non_const_value_type>::type, typename TensorType::value_type>;

template <class Array, class TensorType>
inline constexpr bool is_whole_list = false;
template <class Array, class TensorType>
  requires(!Kokkos::is_view<Array>::value) && requires(Array const& a) {
    { a.data() } -> std::convertible_to<void const*>;
    { a.size() } -> std::convertible_to<std::size_t>;
  }
  inline constexpr bool is_whole_list<Array, TensorType> =
      std::is_same_v<typename element<std::remove_cvref_t<decltype(*std::declval<Array const&>().data())>>::type,
                     typename TensorType::value_type>;

template <class TensorType, class Array>
void scatter_into(TensorType const& t, Array const& whole) {
  using value = typename TensorType::value_type;
  constexpr int rank = TensorType::rank;
  constexpr planner::spec s = spec_of<TensorType, typename TensorType::axes, typename TensorType::mesh_axes>;
  engine::execution_context const w =
      context_of<typename TensorType::axes, typename TensorType::mesh_axes>("scatter_from_root", t);
  if (w.mesh->absent()) return;
  engine::require_same_call<value>(w, s);
  engine::whole_extents given{Kokkos::is_view<Array>::value ? rank : -1, {}};
  planner::strided_box layout = planner::dense(engine::whole_box(w, s));
  auto const scatter = [&](auto const& array) {
    engine::scatter_blocks(execution_space_of<TensorType>(), w, s, reinterpret_cast<value const*>(array.data()), layout,
                           t.local().data());
  };
  if constexpr (Kokkos::is_view<Array>::value) {
    for (int i = 0; i < rank; ++i)
      given.extent[i] = static_cast<std::int64_t>(whole.extent(static_cast<std::size_t>(i)));
    engine::require_whole(w, s, given);
    using on_host = decltype(engine::on_host(whole));
    on_host const view = w.mesh->device() == 0 ? engine::on_host(whole) : on_host();
    for (int i = 0; i < rank; ++i)
      layout.stride[i] = static_cast<std::int64_t>(view.stride(static_cast<std::size_t>(i)));
    scatter(view);
  } else {
    given.extent[0] = static_cast<std::int64_t>(whole.size());
    engine::require_whole(w, s, given);
    scatter(whole);
  }
}

// What os::gather_to_root gave stands for its view.
template <class Array>
Array const& array_in(Array const& given) {
  return given;
}
template <class View>
View const& array_in(on_root<View> const& given) {
  return view_of_root::in(given);
}

template <class TensorType, class Mesh, class Arguments, std::size_t... Is>
auto scatter_from(Mesh const& m, Arguments const& arguments, std::index_sequence<Is...>) {
  using verdict = first_fault<no_block_verdict<TensorType, operation::scatter_from_root>,
                              values_verdict<TensorType, operation::scatter_from_root>>;
  auto t = make_uninitialised<TensorType, verdict>("scatter_from_root", m, std::get<Is>(arguments)...);
  if constexpr (std::is_same_v<decltype(t), TensorType>) scatter_into(t, array_in(std::get<sizeof...(Is)>(arguments)));
  return t;
}

}  // namespace detail

/// A tensor of the elements that device 0 has; every device gets its block of them. The array comes last, after the
/// global extents: a Kokkos::View of any layout with a dimension for each axis, what os::gather_to_root gave, or
/// row-major elements in a std::span or std::vector. On the other devices it has the same type, is not read, and may be
/// empty. Each block is sent once; devices that hold the same pass it on. Collective over the mesh.
/// @throws ostraka::error, on all devices alike, if the array on device 0 has other extents
template <class T, auto... Dims, class Mesh, class... ExtentsThenArray>
[[nodiscard]] auto scatter_from_root([[maybe_unused]] Mesh const& m,
                                     [[maybe_unused]] ExtentsThenArray const&... extents_then_array) {
  using tensor_type = typename detail::named_tensor<T, Dims...>::type;
  using last = detail::last_of<ExtentsThenArray...>;
  using array = std::remove_cvref_t<decltype(detail::array_in(std::declval<last const&>()))>;
  if constexpr (detail::is_whole_view<array, tensor_type> || detail::is_whole_list<array, tensor_type>) {
    return detail::scatter_from<tensor_type>(m, std::forward_as_tuple(extents_then_array...),
                                             std::make_index_sequence<sizeof...(ExtentsThenArray) - 1>{});
  } else {
    reason::raise<reason::whole_array_comes_last<last, tensor_type>>();
    return detail::after_error_of<typename tensor_type::value_type, typename tensor_type::sharding_type,
                                  typename tensor_type::space>();
  }
}

/// Says that the element type comes first.
template <auto... Dims, class... Arguments>
auto scatter_from_root(Arguments const&...) {
  return detail::element_type_missing<Arguments...>();
}

}  // namespace ostraka
