// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The tensors on their way through a plan: where each lies, and in whose memory. A slice is a pointer and an
/// offset: A[I] → A[I_X] copies nothing.

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <utility>

#include <ostraka/engine/moves/local_block.hpp>
#include <ostraka/engine/moves/region.hpp>
#include <ostraka/plan/spec/plan.hpp>

namespace ostraka::engine::detail {

// A tensor on its way. What it lies like is kept elsewhere (run_record.hpp).
template <class Exec, class T>
struct travelling {
  planner::spec const* labels = nullptr;
  region<T const> const* shape = nullptr;
  T const* data = nullptr;
  T* mine = nullptr;  // where it may be written; null while it is a view of somebody's memory
  typename local_block<Exec, T>::room own{};

  [[nodiscard]] region<T const> now() const { return {*shape, data}; }
  [[nodiscard]] region<T> target() const { return {*shape, mine}; }
  [[nodiscard]] bool writable() const { return mine != nullptr && data == mine; }

  // In memory that is given, or of its own.
  static travelling in(planner::spec const& labels, region<T const> const& shape, T* given) {
    travelling t{&labels, &shape, given, given,
                 typename local_block<Exec, T>::room(given != nullptr ? 0 : shape.where.size())};
    if (given == nullptr) t.data = t.mine = t.own.data();
    return t;
  }
};

// Those of a plan that there are at a time.
template <class Exec, class T>
class travelling_tensors {
 public:
  travelling<Exec, T>& operator[](int tensor) { return tensors_[planner::slot_of(tensor)]; }
  void leave(int tensor) { (*this)[tensor] = {}; }

 private:
  travelling<Exec, T> tensors_[planner::max_tensors];
};

}  // namespace ostraka::engine::detail
