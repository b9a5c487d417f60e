// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Assigns the pages of a pool to requests, and takes them back. Every rank calls the same functions in the same order,
/// so all have the same tables without a message.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <vector>

namespace serving {

class page_allocator {
 public:
  /// @param slots the positions of a page. Page 0 is never assigned: unused entries of a table name it.
  page_allocator(std::int64_t pages, std::int64_t slots) : slots_(slots) {
    for (std::int64_t p = pages - 1; p > 0; --p) free_.push_back(static_cast<std::int32_t>(p));
  }

  [[nodiscard]] std::int64_t slots() const { return slots_; }
  [[nodiscard]] std::int64_t free() const { return static_cast<std::int64_t>(free_.size()); }
  /// Returns the number of pages for so many positions.
  [[nodiscard]] std::int64_t needed(std::int64_t positions) const { return (positions + slots_ - 1) / slots_; }

  /// Extends a request's pages to this number of positions.
  /// @throws std::runtime_error if the pool has too few free pages; nothing is changed then
  void reserve(std::vector<std::int32_t>& pages, std::int64_t positions) {
    std::int64_t const more = needed(positions) - static_cast<std::int64_t>(pages.size());
    if (more > free()) throw std::runtime_error("the pool has no free page; let the request wait");
    for (std::int64_t i = 0; i < more; ++i) {
      pages.push_back(free_.back());
      free_.pop_back();
    }
  }

  /// Takes back all pages of a request.
  void release(std::vector<std::int32_t>& pages) {
    free_.insert(free_.end(), pages.begin(), pages.end());
    std::sort(free_.begin(), free_.end(), std::greater<>());  // the lowest page is assigned first
    pages.clear();
  }

 private:
  std::int64_t slots_;
  std::vector<std::int32_t> free_;
};

}  // namespace serving
