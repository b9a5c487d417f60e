// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::scatter_from_root<float, I/X, J>(mesh, I = 1024, J = 8, whole)` makes the array of device 0 a tensor:
/// the inverse of os::gather_to_root. A[I, J] there → A[I_X, J_Y].

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>

#include <ostraka/arrays/given_array.hpp>
#include <ostraka/arrays/on_root.hpp>
#include <ostraka/blocks/create.hpp>
#include <ostraka/calls/context.hpp>
#include <ostraka/engine/moves/on_host.hpp>
#include <ostraka/engine/root/scatter_blocks.hpp>

namespace ostraka {

namespace detail {

// True if the host can read the array, or if it is a view, which is copied to the host.
template <class Array>
consteval bool can_be_read_on_host() {
  using memory = typename given_array<Array>::memory;
  if constexpr (ViewOfBlock<Array>)
    return true;
  else if constexpr (std::is_same_v<memory, memory_of_tensor>)
    return engine::host_accessible<Kokkos::DefaultExecutionSpace>;
  else
    return Kokkos::SpaceAccessibility<Kokkos::HostSpace, memory>::accessible;
}

template <class Array, class TensorType>
consteval bool is_whole() {
  if constexpr (!GivenArray<Array>)
    return false;
  else
    return holds_block<TensorType, Array> && has_axes<TensorType, Array> && can_be_read_on_host<Array>();
}

// The array as the host reads it on device 0; elsewhere a value of the same type.
template <class Array>
decltype(auto) whole_on_host(bool here, Array const& whole) {
  if constexpr (ViewOfBlock<Array>) {
    using on_host = decltype(engine::on_host(whole));
    return here ? engine::on_host(whole) : on_host();
  } else {
    return (whole);
  }
}

template <class TensorType, class Array>
void scatter_into(TensorType const& t, Array const& whole) {
  using value = typename TensorType::value_type;
  constexpr int rank = TensorType::rank;
  constexpr planner::spec s = spec_of<TensorType, typename TensorType::axes, typename TensorType::mesh_axes>;
  engine::execution_context const w =
      context_of<typename TensorType::axes, typename TensorType::mesh_axes>("scatter_from_root", t);
  if (w.mesh->absent()) return;
  engine::require_same_call<value>(w, s);
  planner::box const everything = engine::whole_box(w, s);
  std::int64_t wanted[max_rank + 1]{};
  for (int i = 0; i < rank; ++i) wanted[i] = everything.at[i].size();
  engine::strided const seen = describe_block(typename TensorType::axes{}, whole, wanted);
  engine::whole_extents given{seen.rank, {}};
  for (int i = 0; i < (seen.rank < 0 ? 1 : rank); ++i) given.extent[i] = seen.extent[i];
  if (rank > 0 && everything.size() > 0 && missing_alignment(whole) != 0) given.extent[0] = -missing_alignment(whole);
  engine::require_whole(w, s, given);
  decltype(auto) array = whole_on_host(w.mesh->device() == 0, whole);
  engine::strided const read = describe_block(typename TensorType::axes{}, array, wanted);
  planner::strided_box layout = planner::dense(everything);
  if (read.rank >= 0)
    for (int i = 0; i < rank; ++i) layout.stride[i] = read.stride[i];
  value const* first = data_of(array);
  [[maybe_unused]] value aligned;
  if constexpr (rank == 0)  // no extents are compared, so no device could throw with the others
    if (w.mesh->device() == 0 && missing_alignment(array) != 0) {
      std::memcpy(&aligned, static_cast<void const*>(first), sizeof aligned);
      first = &aligned;
    }
  engine::scatter_blocks(execution_space_of<TensorType>(), w, s, first, layout, t.local().data());
}

// The array, or the view in a result of os::gather_to_root.
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

/// A tensor of the elements that device 0 has; every device receives its block. The array comes last, after the global
/// extents: a Kokkos::View or mdspan of any layout with a dimension for each axis, the result of os::gather_to_root,
/// row-major elements in a std::span or std::vector, os::strided memory of the host, os::in_order<J, I>(array). On the
/// other devices it has the same type, is not read, and may be empty. Each block is sent once; devices that hold the
/// same block pass it on. Collective over the mesh.
/// @throws ostraka::error, on all devices alike, if the array on device 0 has other extents
template <class T, auto... Dims, class Mesh, class... ExtentsThenArray>
[[nodiscard]] auto scatter_from_root([[maybe_unused]] Mesh const& m,
                                     [[maybe_unused]] ExtentsThenArray const&... extents_then_array) {
  using tensor_type = typename detail::named_tensor<T, Dims...>::type;
  using last = detail::last_of<ExtentsThenArray...>;
  using array = std::remove_cvref_t<decltype(detail::array_in(std::declval<last const&>()))>;
  if constexpr (detail::is_whole<array const, tensor_type>()) {
    return detail::scatter_from<tensor_type>(m, std::forward_as_tuple(extents_then_array...),
                                             std::make_index_sequence<sizeof...(ExtentsThenArray) - 1>{});
  } else {
    reason::raise<reason::whole_array_comes_last<last, tensor_type>>();
    return detail::after_error_of<typename tensor_type::value_type, typename tensor_type::sharding_type,
                                  typename tensor_type::space>();
  }
}

/// Does not compile: the error says that the element type comes first.
template <auto... Dims, class... Arguments>
auto scatter_from_root(Arguments const&...) {
  return detail::element_type_missing<Arguments...>();
}

}  // namespace ostraka
