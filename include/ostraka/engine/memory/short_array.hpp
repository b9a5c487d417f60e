// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Lists of one entry per member of a group, without an allocation per operation: in place while a group is
/// small, else in memory that its host thread keeps for the next.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include <ostraka/engine/memory/per_thread.hpp>

namespace ostraka::engine {

/// Numbers of elements, one per member of a group, that lie elsewhere.
struct counts_view {
  std::int64_t const* first;
  std::size_t members;

  constexpr counts_view(std::int64_t const* counts, std::size_t n) : first(counts), members(n) {}
  counts_view(std::vector<std::int64_t> const& counts) : first(counts.data()), members(counts.size()) {}

  [[nodiscard]] constexpr std::size_t size() const { return members; }
  [[nodiscard]] constexpr std::int64_t operator[](std::size_t d) const { return first[d]; }
  [[nodiscard]] constexpr std::int64_t const* begin() const { return first; }
  [[nodiscard]] constexpr std::int64_t const* end() const { return first + members; }

  [[nodiscard]] std::int64_t total() const {
    std::int64_t n = 0;
    for (std::int64_t c : *this) n += c;
    return n;
  }
  [[nodiscard]] bool all_equal() const {
    for (std::int64_t c : *this)
      if (c != first[0]) return false;
    return true;
  }
};

/// A host thread's memory for lists that are too long to lie in place. Memory that comes back is handed out again.
class kept_memory {
 public:
  /// The calling thread's.
  static kept_memory& instance() {
    static thread_local constinit kept_memory* memory = nullptr;
    return per_thread(memory);
  }

  kept_memory() = default;
  kept_memory(kept_memory const&) = delete;
  kept_memory& operator=(kept_memory const&) = delete;
  ~kept_memory() {
    while (first_ != nullptr) ::operator delete(std::exchange(first_, first_->next));
  }

  void* take(std::size_t bytes) {
    for (block** b = &first_; *b != nullptr; b = &(*b)->next)
      if ((*b)->bytes >= bytes) {
        block* const found = *b;
        *b = found->next;
        return found + 1;
      }
    if (block* const too_small = first_) {
      first_ = too_small->next;
      ::operator delete(too_small);
    }
    return new (::operator new(sizeof(block) + bytes)) block{nullptr, bytes} + 1;
  }

  void give_back(void* memory) {
    block* const b = static_cast<block*>(memory) - 1;
    b->next = first_;
    first_ = b;
  }

 private:
  struct alignas(std::max_align_t) block {
    block* next;
    std::size_t bytes;
  };
  block* first_ = nullptr;  // as many as were in use at once
};

/// A list for the length of a scope, of elements that may be copied as bytes. It begins empty and grows at its end.
template <class T, std::size_t InPlace = 32>
class short_array {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  short_array() : items_(reinterpret_cast<T*>(place_)) {}
  explicit short_array(std::size_t capacity) : short_array() { reserve(capacity); }

  /// `of(0)` to `of(count - 1)`.
  template <class Of>
  short_array(std::size_t count, Of&& of) : short_array(count) {
    for (std::size_t i = 0; i < count; ++i) push_back(of(i));
  }
  short_array(short_array const&) = delete;
  short_array& operator=(short_array const&) = delete;
  ~short_array() { leave(); }

  void reserve(std::size_t capacity) {
    if (capacity <= capacity_) return;
    T* const longer = static_cast<T*>(kept_memory::instance().take(capacity * sizeof(T)));
    std::memcpy(static_cast<void*>(longer), static_cast<void const*>(items_), count_ * sizeof(T));
    leave();
    items_ = longer;
    capacity_ = capacity;
  }

  T& push_back(T item) {
    if (count_ == capacity_) reserve(2 * capacity_);
    return *new (items_ + count_++) T(item);
  }
  void clear() { count_ = 0; }

  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] T* data() { return items_; }
  [[nodiscard]] T const* data() const { return items_; }
  [[nodiscard]] T const& operator[](std::size_t i) const { return items_[i]; }
  [[nodiscard]] T const& back() const { return items_[count_ - 1]; }
  [[nodiscard]] T const* begin() const { return items_; }
  [[nodiscard]] T const* end() const { return items_ + count_; }

  operator counts_view() const
    requires std::is_same_v<T, std::int64_t>
  {
    return {items_, count_};
  }

 private:
  void leave() {
    if (items_ != reinterpret_cast<T*>(place_)) kept_memory::instance().give_back(items_);
  }

  alignas(T) unsigned char place_[InPlace * sizeof(T)];
  T* items_;
  std::size_t count_ = 0;
  std::size_t capacity_ = InPlace;
};

}  // namespace ostraka::engine
