// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 1. The entries of a small cache: once it is full, each new entry replaces the oldest. The cache finds an entry
/// by a loop over all.

#include <cstddef>

#include <ostraka/types/support/dynamic_array.hpp>

namespace ostraka {

/// At most `Most` entries, in the order in which they were added until one is replaced.
template <class T, std::size_t Most>
class recent_entries {
  static_assert(Most > 0);

 public:
  /// Adds an entry and returns it, valid until the next call. If there are `Most` entries, calls `drop(oldest)` and
  /// replaces the oldest.
  template <class Drop>
  T& add(T entry, Drop const& drop) {
    if (entries_.size() < Most) {
      entries_.push_back(static_cast<T&&>(entry));
      return entries_.back();
    }
    T& oldest = entries_[oldest_];
    oldest_ = (oldest_ + 1) % Most;
    drop(oldest);
    oldest = static_cast<T&&>(entry);
    return oldest;
  }
  T& add(T entry) {
    return add(static_cast<T&&>(entry), [](T const&) {});
  }

  void clear() {
    entries_.clear();
    oldest_ = 0;
  }

  [[nodiscard]] bool empty() const { return entries_.empty(); }
  [[nodiscard]] T* begin() { return entries_.begin(); }
  [[nodiscard]] T* end() { return entries_.end(); }
  [[nodiscard]] T const* begin() const { return entries_.begin(); }
  [[nodiscard]] T const* end() const { return entries_.end(); }

 private:
  dynamic_array<T> entries_;
  std::size_t oldest_ = 0;
};

}  // namespace ostraka
