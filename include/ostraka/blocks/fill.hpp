// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Shared by os::zeros, ones, full and copy: a block of one number, and a new block with the extents of
/// another.

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <ostraka/blocks/make_block.hpp>
#include <ostraka/calls/context.hpp>
#include <ostraka/engine/blocks/dense.hpp>

namespace ostraka::detail {

// The functions on tensors without their names are compiled once for all shardings of a rank.

template <class T, int Rank, class Space>
[[gnu::cold, gnu::noinline]] void fill_unnamed(char const* operation, planner::spec const& s,
                                               planner::naming const& names, unnamed_tensor<T, Rank, Space> const& t,
                                               T const& value) {
  auto const size = static_cast<std::int64_t>(t.local().size());
  engine::profiled const region_of_run(
      [&] { engine::push_blocks(operation, s, names, "writes", size * static_cast<std::int64_t>(sizeof(T))); });
  engine::fill_block(execution_space_of<unnamed_tensor<T, Rank, Space>>(), t.local().data(), size, value);
}

/// Every element of this device's block ← value.
template <class TensorType>
void fill_block(char const* operation, TensorType const& t, typename TensorType::value_type const& value) {
  using axes = axes_in<TensorType>;
  using mesh_axes = mesh_axes_in<TensorType>;
  fill_unnamed<typename TensorType::value_type, TensorType::rank, typename TensorType::space>(
      operation, spec_of<TensorType, axes, mesh_axes>, naming_of<axes, mesh_axes>, t, value);
}

template <class R, class T, int Rank, class Space>
[[gnu::cold, gnu::noinline]] unnamed_tensor<R, Rank, Space> uninitialised_unnamed(
    unnamed_tensor<T, Rank, Space> const& a) {
  using result_type = unnamed_tensor<R, Rank, Space>;
  std::int64_t local[Rank + 1]{};
  for (int i = 0; i < Rank; ++i) local[i] = static_cast<std::int64_t>(a.local().extent(static_cast<std::size_t>(i)));
  return {a.mesh_handle(), a.extents(),
          make_view<typename result_type::view_type>(local,
                                                     std::make_index_sequence<static_cast<std::size_t>(Rank)>{})};
}

/// A new, uninitialised tensor with the type, mesh and extents of another.
template <class T, class Sharding, class Space>
auto uninitialised_like(basic_tensor<T, Sharding, Space> const& a) {
  using tensor_type = basic_tensor<std::remove_const_t<T>, Sharding, Space>;
  tensor_type result(uninitialised_unnamed<std::remove_const_t<T>, T, tensor_type::rank, Space>(a));
  if constexpr (varying_in<tensor_type>::size > 0) result.set_origins(a.origins());
  return result;
}

}  // namespace ostraka::detail
