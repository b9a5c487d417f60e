// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The block of a tensor that this device holds while a plan runs: a view of somebody's memory or a block of its own.
/// A slice is a pointer and an offset: A[I] → A[I_X] copies nothing.

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <utility>

#include <ostraka/engine/copy.hpp>
#include <ostraka/engine/locale.hpp>
#include <ostraka/engine/strided.hpp>
#include <ostraka/engine/update.hpp>
#include <ostraka/engine/workspace.hpp>

namespace ostraka::engine {

/// A box of global indices, dimension by dimension.
struct box {
  int rank = 0;
  planner::range at[max_rank]{};

  [[nodiscard]] std::int64_t size() const {
    std::int64_t n = 1;
    for (int i = 0; i < rank; ++i) n *= at[i].size();
    return n;
  }

  /// Row-major without gaps.
  [[nodiscard]] strided packed() const {
    std::int64_t n[max_rank]{};
    for (int i = 0; i < rank; ++i) n[i] = at[i].size();
    return row_major(n, rank);
  }
};

/// What a device with these coordinates holds under `s`.
inline box box_of(planner::spec const& s, planner::coordinates const& device, planner::extents const& e) {
  box b;
  b.rank = s.rank;
  for (int i = 0; i < s.rank; ++i) b.at[i] = planner::range_of(s, i, device, e);
  return b;
}

inline box intersect(box const& a, box const& b) {
  box r;
  r.rank = a.rank;
  for (int i = 0; i < a.rank; ++i) r.at[i] = planner::intersect(a.at[i], b.at[i]);
  return r;
}

/// Elements of a box somewhere in memory.
template <class T>
struct region {
  T* data = nullptr;
  strided layout{};
  box where{};

  /// The part of it within `part`. @pre part lies within
  [[nodiscard]] region part(box const& inner) const {
    region r{data, layout, inner};
    if (inner.size() == 0) return {data, inner.packed(), inner};  // no offset from a place that may not exist
    for (int i = 0; i < inner.rank; ++i) {
      r.data += (inner.at[i].begin - where.at[i].begin) * layout.stride[i];
      r.layout.extent[i] = inner.at[i].size();
    }
    return r;
  }

  /// Lie the elements one after the other?
  [[nodiscard]] bool gapless() const {
    strided const dense = where.packed();
    for (int i = 0; i < layout.rank; ++i)
      if (layout.extent[i] > 1 && layout.stride[i] != dense.stride[i]) return false;
    return true;
  }
};

/// A region without gaps at `data`.
template <class T>
region<T> dense_region(T* data, box const& where) {
  return {data, where.packed(), where};
}

template <class Exec, class T>
void copy(Exec const& exec, region<T> const& to, region<T const> const& from, update<T> const& how = {}) {
  copy(exec, to.data, to.layout, from.data, from.layout, how);
}

/// A tensor on its way through a plan.
template <class Exec, class T>
struct local_block {
  using room = scratch<T, typename Exec::memory_space>;

  region<T const> now{};
  T* mine = nullptr;  ///< where `now` may be written; null while it looks at somebody's memory
  room own{};

  /// `now`, to be written. @pre writable()
  [[nodiscard]] region<T> target() const { return {mine, now.layout, now.where}; }

  /// A new block in memory of its own, to be filled.
  static local_block fresh(box const& where) {
    local_block b{{}, nullptr, room(where.size())};
    b.mine = b.own.data();
    b.now = {b.mine, where.packed(), where};
    return b;
  }

  /// A new block in memory that is given, to be filled.
  static local_block in(region<T> const& given) { return {{given.data, given.layout, given.where}, given.data, room()}; }

  [[nodiscard]] bool writable() const { return mine != nullptr && now.data == mine; }
};

}  // namespace ostraka::engine
