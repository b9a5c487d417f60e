// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The block of a tensor that this device holds while a plan runs: a view of somebody's memory or a block of
/// its own. A slice is a pointer and an offset: A[I] → A[I_X] copies nothing.

#include <Kokkos_Core.hpp>

#include <ostraka/engine/memory/pool.hpp>
#include <ostraka/engine/moves/region.hpp>

namespace ostraka::engine {

/// A tensor on its way through a plan.
template <class Exec, class T>
struct local_block {
  using room = scratch<T, typename Exec::memory_space>;

  region<T const> now{};
  T* mine = nullptr;  ///< where `now` may be written; null while it looks at somebody's memory
  room own{};

  /// `now`, to be written. @pre writable()
  [[nodiscard]] region<T> target() const { return {now, mine}; }

  /// A new block in memory of its own, to be filled.
  static local_block fresh(box const& where) {
    local_block b{dense_region<T const>(nullptr, where), nullptr, room(where.size())};
    b.now.data = b.mine = b.own.data();
    return b;
  }

  /// A new block in memory that is given, to be filled.
  static local_block in(region<T> const& given) { return {readable(given), given.data, room()}; }

  [[nodiscard]] bool writable() const { return mine != nullptr && now.data == mine; }
};

}  // namespace ostraka::engine
