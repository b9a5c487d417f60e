// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. A value with several owners: std::shared_ptr without the templates that it instantiates for every type
/// (types/support/dynamic_array.hpp has the array that goes with it).

#include <atomic>

namespace ostraka::engine {

/// A value that exists as long as one of its owners, or no value. Several host threads may copy and destroy their own
/// owners at the same time.
template <class T>
class shared_value {
 public:
  shared_value() = default;

  /// Returns the first owner of T(arguments…).
  template <class... Arguments>
  [[nodiscard, gnu::cold]] static shared_value make(Arguments&&... arguments) {
    shared_value made;
    made.held_ = new counted{{1}, T(static_cast<Arguments&&>(arguments)...)};
    return made;
  }

  shared_value(shared_value const& other) noexcept : held_(other.held_) {
    if (held_ != nullptr) held_->owners.fetch_add(1, std::memory_order_relaxed);
  }
  shared_value(shared_value&& other) noexcept : held_(other.held_) { other.held_ = nullptr; }
  shared_value& operator=(shared_value other) noexcept {
    swap(other);
    return *this;
  }
  void swap(shared_value& other) noexcept {
    counted* const mine = held_;
    held_ = other.held_;
    other.held_ = mine;
  }
  ~shared_value() {
    if (held_ != nullptr && held_->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) forget(held_);
  }

  explicit operator bool() const { return held_ != nullptr; }
  [[nodiscard]] T& operator*() const { return held_->value; }
  [[nodiscard]] T* operator->() const { return &held_->value; }

 private:
  struct counted {
    std::atomic<long> owners;
    T value;
  };
  [[gnu::cold, gnu::noinline]] static void forget(counted* last) { delete last; }

  counted* held_ = nullptr;
};

}  // namespace ostraka::engine
