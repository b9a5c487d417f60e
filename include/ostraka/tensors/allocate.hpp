// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. New, uninitialised tensors. The functions are compiled once for all shardings of a rank.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include <ostraka/engine/memory/kept_blocks.hpp>
#include <ostraka/tensors/tensor.hpp>

namespace ostraka::detail {

template <class View, std::size_t... Is>
View make_view(std::int64_t const* extents, std::index_sequence<Is...>,
               bool tools_listen = Kokkos::Tools::profileLibraryLoaded()) {
  return engine::new_view<View>(typename View::array_layout(static_cast<std::size_t>(extents[Is])...),
                                (sizeof(typename View::value_type) * ... * static_cast<std::size_t>(extents[Is])),
                                tools_listen);
}

// Returns a new, uninitialised tensor with the labels of `s`.
template <class T, int Rank, class Space>
unnamed_tensor<T, Rank, Space> allocate_unnamed(std::shared_ptr<engine::device_mesh const> const& mesh,
                                                engine::execution_context const& w, planner::spec const& s) {
  using tensor_type = unnamed_tensor<T, Rank, Space>;
  typename tensor_type::extents_type extents{};
  std::int64_t local[max_rank]{};
  for (int i = 0; i < Rank; ++i) {
    extents[static_cast<std::size_t>(i)] = w.sizes.label[s.label[i]];
    local[i] = planner::range_of(s, i, w.here, w.sizes).size();
  }
  return {mesh, extents,
          make_view<typename tensor_type::view_type>(local, std::make_index_sequence<static_cast<std::size_t>(Rank)>{},
                                                     w.tools_listen)};
}

// Returns a new, uninitialised tensor of these extents; `s` is its sharding over mesh axes with these names.
template <class T, int Rank, class Space>
[[gnu::cold, gnu::noinline]] unnamed_tensor<T, Rank, Space> allocate_with_extents(
    std::shared_ptr<engine::device_mesh const> const& mesh,
    std::array<std::int64_t, static_cast<std::size_t>(Rank)> const& extents, planner::spec const& s,
    std::string_view const* mesh_axes, int count) {
  return allocate_unnamed<T, Rank, Space>(
      mesh, context_of_tensor("tensor", *mesh, mesh_axes, count, extents.data(), Rank), s);
}

// Returns a new, uninitialised tensor. @pre the extents are checked
template <class TensorType>
TensorType allocate(std::shared_ptr<engine::device_mesh const> const& mesh,
                    typename TensorType::extents_type const& extents) {
  using mesh_axes = typename TensorType::mesh_axes;
  using value = typename TensorType::value_type;
  return TensorType(allocate_with_extents<value, TensorType::rank, typename TensorType::space>(
      mesh, extents, spec_of<typename TensorType::sharding_type, typename TensorType::axes, mesh_axes>,
      names_of<mesh_axes>.data(), mesh_axes::size));
}

}  // namespace ostraka::detail
