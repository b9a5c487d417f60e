// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Uninitialised blocks and tensors, with given extents, or with the extents of another one on this device.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include <ostraka/tensors/allocate.hpp>
#include <ostraka/tensors/tensor.hpp>

namespace ostraka::detail {

// The extents of this device's part of a tensor or block.
using local_extents_array = std::array<std::int64_t, max_rank + 1>;
template <class A>
local_extents_array local_extents_of(A const& a) {
  local_extents_array extents{};
  for (std::size_t i = 0; i < static_cast<std::size_t>(A::rank); ++i)
    extents[i] = static_cast<std::int64_t>(a.local().extent(i));
  return extents;
}

// An uninitialised block or tensor. `local`: the extents of this device's part of it.
template <class R>
R make_block(std::shared_ptr<engine::device_mesh const> const& mesh, typename R::extents_type const& extents,
             std::int64_t const* local, extent_origins<R::rank> const& origins) {
  R block(mesh, extents,
          make_view<typename R::view_type>(local, std::make_index_sequence<static_cast<std::size_t>(R::rank)>{}));
  if constexpr (varying_in<R>::size > 0) block.set_origins(origins);
  return block;
}

// A block as long as `a` on this device, except for dimension `along`, of which it holds all.
template <class R, class A>
R make_block_like(A const& a, typename R::extents_type const& extents, extent_origins<R::rank> const& origins,
                  int along = -1) {
  local_extents_array local = local_extents_of(a);
  if (along >= 0) local[static_cast<std::size_t>(along)] = extents[static_cast<std::size_t>(along)];
  return make_block<R>(a.mesh_handle(), extents, local.data(), origins);
}

}  // namespace ostraka::detail
