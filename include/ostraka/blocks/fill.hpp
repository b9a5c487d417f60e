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

/// Every element of this device's block ← value.
template <class TensorType>
void fill_block(char const* operation, TensorType const& t, typename TensorType::value_type const& value) {
  profiled_block<TensorType> const region_of_run(operation, t, "writes");
  engine::fill_block(execution_space_of<TensorType>(), t.local().data(), static_cast<std::int64_t>(t.local().size()),
                     value);
}

/// A new, uninitialised tensor with the type, mesh and extents of another.
template <class T, class Sharding, class Space>
auto uninitialised_like(basic_tensor<T, Sharding, Space> const& a) {
  using tensor_type = basic_tensor<std::remove_const_t<T>, Sharding, Space>;
  extent_origins<tensor_type::rank> origins{};
  if constexpr (varying_in<tensor_type>::size > 0) origins = a.origins();
  return make_block_like<tensor_type>(a, a.extents(), origins);
}

}  // namespace ostraka::detail
