// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::from_local<float, I/X, J>(mesh, I = 1024, J = 8, view)`: a block that is already there becomes a tensor's, without a copy.

#include <cstddef>
#include <string>
#include <tuple>
#include <utility>

#include <ostraka/create.hpp>
#include <ostraka/engine/collectives/all_reduce.hpp>
#include <ostraka/operation.hpp>

namespace ostraka {

namespace detail {

// Does a row of it follow the one before? A part of a larger view, or a padded one, has the same type.
template <class View>
bool is_gapless(View const& view) {
  std::size_t step = 1;
  for (std::size_t d = View::rank; d-- > 0;) {
    if (view.extent(d) > 1 && static_cast<std::size_t>(view.stride(d)) != step) return view.size() == 0;
    step *= view.extent(d);
  }
  return true;
}

template <class TensorType, class Mesh, class Arguments, std::size_t... Is>
TensorType adopt(Mesh const& m, Arguments const& arguments, std::index_sequence<Is...>) {
  auto const extents = checked_extents(typename TensorType::axes{}, collect_sizes(std::get<Is>(arguments)...), "from_local");
  typename TensorType::view_type const view = std::get<sizeof...(Is)>(arguments);
  TensorType const t(m.handle(), extents, view);
  int wrong = -1;
  for (int d = 0; d < TensorType::rank; ++d)
    if (static_cast<std::int64_t>(view.extent(static_cast<std::size_t>(d))) != t.range(d).size()) wrong = d;
  if (m.absent()) {
    if (wrong >= 0)
      throw error("from_local: this process is none of the mesh's devices and holds no block, but its view has " +
                  std::to_string(view.extent(static_cast<std::size_t>(wrong))) + " elements along dimension " + std::to_string(wrong) +
                  "; give an empty view where mesh.absent()");
    return t;
  }
  constexpr planner::spec s = spec_of<TensorType, typename TensorType::axes, typename TensorType::mesh_axes>;
  engine::require_same_call<typename TensorType::value_type>(locale_of<typename TensorType::axes, typename TensorType::mesh_axes>("from_local", t), s);
  // Each device sees its own view only; the agreement lets all of them throw: the first whose extents are wrong, or else whose rows lie apart.
  std::int64_t first_wrong[2] = {wrong < 0 ? 0 : m.devices() - m.device(), is_gapless(view) ? 0 : m.devices() - m.device()};
  engine::all_reduce(m.handle()->world(), first_wrong, 2, engine::reduction::max);
  if (first_wrong[0] > 0)
    throw error("from_local: each view has the extents of its device's block, but that of device " + std::to_string(m.devices() - first_wrong[0]) + " has not" +
                (wrong < 0 ? std::string()
                           : "; along dimension " + std::to_string(wrong) + " device " + std::to_string(m.device()) + " holds " +
                                 std::to_string(t.range(wrong).size()) + " elements and its view has " +
                                 std::to_string(view.extent(static_cast<std::size_t>(wrong)))) +
                "; device d of p holds [floor(d*n/p), floor((d+1)*n/p)) of an extent n");
  if (first_wrong[1] > 0)
    throw error("from_local: a block lies row-major without gaps, but the view of device " + std::to_string(m.devices() - first_wrong[1]) +
                " is a part of a larger one, or padded; copy it into a view of its own (Kokkos::deep_copy)");
  return t;
}

template <class TensorType, class Mesh, class Arguments, std::size_t... Is>
auto checked_adopt(Mesh const& m, Arguments const& arguments, std::index_sequence<Is...> extents) {
  using verdict = typename creation_verdict<TensorType, Mesh, std::remove_cvref_t<std::tuple_element_t<Is, Arguments>>...>::type;
  reason::raise<verdict>();
  if constexpr (std::is_same_v<verdict, reason::ok>)
    return adopt<TensorType>(m, arguments, extents);
  else
    return after_error_of<typename TensorType::value_type, typename TensorType::sharding_type, typename TensorType::space>();
}

}  // namespace detail

/// Adopts this device's block, a row-major Kokkos::View that comes last, after the global extents. Shallow: both see each other's writes.
/// Collective over the mesh. @throws ostraka::error, on all devices alike, if a view has not the extents of its device's block, or has gaps
template <class T, auto... Dims, class Mesh, class... ExtentsThenView>
[[nodiscard]] auto from_local([[maybe_unused]] Mesh const& m, [[maybe_unused]] ExtentsThenView const&... extents_then_view) {
  using tensor_type = typename detail::named_tensor<T, Dims...>::type;
  using last = detail::last_of<ExtentsThenView...>;
  if constexpr (detail::gives_extents<last>) {
    reason::raise<reason::view_comes_last<last>>();
    return detail::after_error_of<typename tensor_type::value_type, typename tensor_type::sharding_type, typename tensor_type::space>();
  } else {
    return detail::checked_adopt<tensor_type>(m, std::forward_as_tuple(extents_then_view...), std::make_index_sequence<sizeof...(ExtentsThenView) - 1>{});
  }
}

/// Says that the element type comes first.
template <auto... Dims, class... Arguments>
auto from_local(Arguments const&...) {
  return detail::element_type_missing<Arguments...>();
}

}  // namespace ostraka
