// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. A view of the same memory with other extents, which keeps the memory alive as the given view does. Kokkos
/// has no subviews of higher rank, so this file passes on Kokkos's reference count. No other file does.

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace ostraka::detail {

template <class To, class From, std::size_t... Ds>
To reshaped_view(From const& from, std::int64_t const* extents, std::index_sequence<Ds...>) {
  To const lying(from.data(), static_cast<std::size_t>(extents[Ds])...);  // holds no reference
  if constexpr (requires { To(from.data_handle(), lying.mapping()); })
    return To(from.data_handle(), lying.mapping());  // from Kokkos 5 on
  else
    return To(from.impl_track(), lying.impl_map());
}

/// @pre both are row-major without gaps and have the same number of elements
template <class To, class From>
To reshaped_view(From const& from, std::int64_t const* extents) {
  return reshaped_view<To>(from, extents, std::make_index_sequence<static_cast<std::size_t>(To::rank)>{});
}

}  // namespace ostraka::detail
