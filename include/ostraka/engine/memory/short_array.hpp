// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Lists with one entry per member of a group, without an allocation per operation. The list of a small group
/// is stored in place, others in memory that the host thread keeps for the next list.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include <ostraka/engine/memory/per_thread.hpp>

namespace ostraka::engine {

/// `members` members of a group have `elements` elements each.
struct equal_counts {
  std::int64_t elements = 0;
  std::int64_t members = 0;
};

/// Numbers of elements, one per member of a group: a list, which it does not own, or one number for all members. Code
/// that has summed a list passes the sums on, so that queries need no loop over the members.
struct counts_view {
  std::int64_t const* first = nullptr;  ///< null: each member has `each`
  std::size_t members = 0;
  std::int64_t each = 0;
  std::int64_t const* sums = nullptr;   ///< of the members before each one, the total last; null: not known
  equal_counts const* kinds = nullptr;  ///< how many members have each count; null: not known, or too many kinds
  std::size_t number_of_kinds = 0;

  constexpr counts_view(std::int64_t const* counts, std::size_t n) : first(counts), members(n) {}
  counts_view(std::vector<std::int64_t> const& counts) : first(counts.data()), members(counts.size()) {}

  /// Returns the view in which each of n members has `count` elements.
  static constexpr counts_view even(std::int64_t count, std::size_t n) {
    counts_view all(nullptr, n);
    all.each = count;
    return all;
  }

  [[nodiscard]] constexpr std::size_t size() const { return members; }
  [[nodiscard]] constexpr std::int64_t operator[](std::size_t d) const { return first != nullptr ? first[d] : each; }

  /// Returns the number of elements of the members before this one.
  [[nodiscard]] constexpr std::int64_t before(std::size_t member) const {
    if (first == nullptr) return static_cast<std::int64_t>(member) * each;
    if (sums != nullptr) return sums[member] - sums[0];
    std::int64_t n = 0;
    for (std::size_t d = 0; d < member; ++d) n += first[d];
    return n;
  }
  [[nodiscard]] constexpr std::int64_t total() const { return before(members); }

  /// Returns the sum of f(elements of a member) over all members.
  template <class F>
  [[nodiscard]] constexpr std::int64_t sum_of(F const& f) const {
    if (first == nullptr) return members == 0 ? 0 : static_cast<std::int64_t>(members) * f(each);
    std::int64_t n = 0;
    for (std::size_t k = 0; k < number_of_kinds; ++k) n += kinds[k].members * f(kinds[k].elements);
    for (std::size_t d = 0; kinds == nullptr && d < members; ++d) n += f(first[d]);
    return n;
  }
  /// Returns the largest number of elements that a member has.
  [[nodiscard]] constexpr std::int64_t largest() const {
    std::int64_t most = first == nullptr && members > 0 ? each : 0;
    for (std::size_t k = 0; k < number_of_kinds; ++k) most = most < kinds[k].elements ? kinds[k].elements : most;
    for (std::size_t d = 0; first != nullptr && kinds == nullptr && d < members; ++d)
      most = most < first[d] ? first[d] : most;
    return most;
  }
  [[nodiscard]] constexpr bool all_equal() const {
    for (std::size_t d = 0; first != nullptr && d < members; ++d)
      if (first[d] != first[0]) return false;
    return true;
  }

  /// True if the n members from `member` on have the same numbers of elements as the n from `other` on.
  [[nodiscard]] constexpr bool alike(std::size_t member, std::size_t other, std::size_t n) const {
    for (std::size_t d = 0; first != nullptr && d < n; ++d)
      if (first[member + d] != first[other + d]) return false;
    return true;
  }

  /// Returns the counts of n members, beginning with this one.
  [[nodiscard]] constexpr counts_view part(std::size_t member, std::size_t n) const {
    counts_view some(first != nullptr ? first + member : nullptr, n);
    some.each = each;
    some.sums = sums != nullptr ? sums + member : nullptr;
    return some;
  }
};

static_assert(counts_view::even(5, 3).total() == 15 && counts_view::even(5, 3).largest() == 5);

/// A host thread's memory for lists that are too long to be stored in place. Returned memory is reused.
class kept_memory {
 public:
  /// Returns the calling thread's memory.
  [[gnu::visibility("default")]] static kept_memory& instance() {
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
  block* first_ = nullptr;  // as many blocks as were in use at once
};

/// A list for the length of a scope, of elements that may be copied as bytes. It begins empty and grows at its end.
template <class T, std::size_t InPlace = 32>
class short_array {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  short_array() : items_(reinterpret_cast<T*>(place_)) {}
  explicit short_array(std::size_t capacity) : short_array() { reserve(capacity); }

  /// Fills the list with of(0), …, of(count - 1).
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
