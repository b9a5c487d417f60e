// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Copies a strided block into one in another memory space: with one kernel if one of the two execution spaces
/// reaches both blocks, otherwise packed densely on either side. It returns when all elements are written.

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

#include <ostraka/engine/kernels/copy_strided.hpp>
#include <ostraka/engine/memory/pool.hpp>
#include <ostraka/engine/moves/on_host.hpp>

namespace ostraka::engine {

namespace detail {

template <class Exec, class There>
inline constexpr bool reaches = Kokkos::SpaceAccessibility<Exec, typename There::memory_space>::accessible;

}  // namespace detail

/// to[…] <- from[…]. @pre the same extents, and the blocks do not overlap
template <class To, class From, class T>
void copy_across(To const& to_exec, T* to, strided const& to_layout, From const& from_exec, T const* from,
                 strided const& from_layout) {
  std::int64_t const n = to_layout.size();
  if (n == 0) return;
  if constexpr (detail::reaches<To, From>) {
    copy(to_exec, to, to_layout, from, from_layout);
    fence(to_exec);
  } else if constexpr (detail::reaches<From, To>) {
    copy(from_exec, to, to_layout, from, from_layout);
    fence(from_exec);
  } else {
    bool const packs = !from_layout.is_row_major(), unpacks = !to_layout.is_row_major();
    strided const packed = row_major(to_layout.extent, to_layout.rank);
    scratch<T, typename From::memory_space> const sent(packs ? n : 0);
    scratch<T, typename To::memory_space> const received(unpacks ? n : 0);
    if (packs) {
      copy(from_exec, sent.data(), packed, from, from_layout);
      fence(from_exec);
    }
    detail::stage<typename To::memory_space, typename From::memory_space>(
        unpacks ? received.data() : to, packs ? static_cast<T const*>(sent.data()) : from, n);
    if (unpacks) {
      copy(to_exec, to, to_layout, static_cast<T const*>(received.data()), packed);
      fence(to_exec);
    }
  }
}

}  // namespace ostraka::engine
