// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 1. An array that grows, as std::vector does, without the hundred templates that a std::vector instantiates for
/// every element type in every file that includes this library (docs/benchmarks/compile.md).

#include <cstddef>
#include <initializer_list>
#include <new>

namespace ostraka {

namespace detail {

/// Moves `used` bytes of trivially copyable elements of any type to a new block of `wanted` bytes, and frees the old
/// block. Returns null if `wanted` is 0.
[[gnu::cold, gnu::noinline]] inline void* reallocate(void* items, std::size_t used, std::size_t wanted) {
  void* const other = wanted > 0 ? ::operator new(wanted) : nullptr;
  if (used > 0) __builtin_memcpy(other, items, used);
  ::operator delete(items);
  return other;
}

/// Appends `how_many` trivially copyable elements and returns the memory that holds them all. Updates the count, and
/// the capacity if it grows.
/// @pre the new elements are not among those in `items`
[[gnu::cold, gnu::noinline]] inline void* append_bytes(void* items, std::size_t& count, std::size_t& capacity,
                                                       void const* more, std::size_t how_many,
                                                       std::size_t bytes_of_one) {
  if (how_many == 0) return items;
  if (capacity < count + how_many) {
    items = reallocate(items, count * bytes_of_one, (count + how_many) * bytes_of_one);
    capacity = count + how_many;
  }
  __builtin_memcpy(static_cast<char*>(items) + count * bytes_of_one, more, how_many * bytes_of_one);
  count += how_many;
  return items;
}

}  // namespace detail

/// A contiguous array that grows as elements are added. Growing moves the elements, so their moves must not throw.
template <class T>
class dynamic_array {
 public:
  dynamic_array() = default;
  explicit dynamic_array(std::size_t count) : dynamic_array() { resize(count); }
  dynamic_array(std::size_t count, T const& value) : dynamic_array() { assign(count, value); }
  dynamic_array(std::initializer_list<T> items) : dynamic_array() { append(items.begin(), items.size()); }

  /// Copies the elements of another contiguous container, such as a std::vector.
  template <class Container>
    requires requires(Container const& c) { static_cast<T const*>(c.data()), c.size(); }
  dynamic_array(Container const& items) : dynamic_array() { append(items.data(), items.size()); }

  dynamic_array(dynamic_array const& other) : dynamic_array() { append(other.items_, other.count_); }
  dynamic_array(dynamic_array&& other) noexcept { take(other); }
  dynamic_array& operator=(dynamic_array const& other) {
    if (this != &other) *this = dynamic_array(other);
    return *this;
  }
  dynamic_array& operator=(dynamic_array&& other) noexcept {
    if (this == &other) return *this;
    release();
    take(other);
    return *this;
  }
  ~dynamic_array() {
    if (items_ != nullptr) release();
  }

  void reserve(std::size_t capacity) {
    if (capacity > capacity_) grow(capacity);
  }

  void push_back(T item) {
    if (count_ == capacity_) grow(capacity_ == 0 ? 1 : 2 * capacity_);  // most have one element
    if constexpr (only_bytes)
      __builtin_memcpy(static_cast<void*>(items_ + count_), &item, sizeof(T));
    else
      ::new (static_cast<void*>(items_ + count_)) T(static_cast<T&&>(item));
    ++count_;
  }
  void pop_back() { items_[--count_].~T(); }

  /// Changes the number of elements; new ones are T().
  void resize(std::size_t count) {
    clear(count);
    reserve(count);
    for (; count_ < count; ++count_) ::new (static_cast<void*>(items_ + count_)) T();
  }
  [[gnu::cold]] void assign(std::size_t count, T const& value) {
    clear();
    reserve(count);
    for (; count_ < count; ++count_) ::new (static_cast<void*>(items_ + count_)) T(value);
  }

  /// Removes all elements except the first `but`.
  void clear(std::size_t but = 0) {
    if constexpr (only_bytes) {
      if (count_ > but) count_ = but;
    } else {
      while (count_ > but) pop_back();
    }
  }

  /// Frees the memory that no element uses.
  void shrink_to_fit() {
    if (count_ < capacity_) grow(count_);
  }

  /// Removes an element; those after it move up.
  void erase(T const* at) {
    for (T* to = items_ + (at - items_); to + 1 != end(); ++to) *to = static_cast<T&&>(to[1]);
    pop_back();
  }

  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] std::size_t capacity() const { return capacity_; }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] T* data() { return items_; }
  [[nodiscard]] T const* data() const { return items_; }
  [[nodiscard]] T& operator[](std::size_t i) { return items_[i]; }
  [[nodiscard]] T const& operator[](std::size_t i) const { return items_[i]; }
  [[nodiscard]] T& front() { return items_[0]; }
  [[nodiscard]] T const& front() const { return items_[0]; }
  [[nodiscard]] T& back() { return items_[count_ - 1]; }
  [[nodiscard]] T const& back() const { return items_[count_ - 1]; }
  [[nodiscard]] T* begin() { return items_; }
  [[nodiscard]] T* end() { return items_ + count_; }
  [[nodiscard]] T const* begin() const { return items_; }
  [[nodiscard]] T const* end() const { return items_ + count_; }

  /// True if an element equals `value`.
  [[nodiscard]] bool contains(T const& value) const { return find(value) != end(); }

  /// The first element that equals `value`, or end().
  [[nodiscard]] T const* find(T const& value) const {
    T const* at = begin();
    while (at != end() && !(*at == value)) ++at;
    return at;
  }

 private:
  // @pre this array is empty and has no memory
  void take(dynamic_array& other) {
    items_ = other.items_;
    count_ = other.count_;
    capacity_ = other.capacity_;
    other.items_ = nullptr;
    other.count_ = other.capacity_ = 0;
  }

  // Moves the elements to memory for `capacity` of them.
  // @pre there are no more elements than that
  [[gnu::cold]] void grow(std::size_t capacity) {
    static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__&& noexcept(T(static_cast<T&&>(*items_))));
    if constexpr (only_bytes) {
      items_ = static_cast<T*>(detail::reallocate(items_, count_ * sizeof(T), capacity * sizeof(T)));
    } else {
      T* const longer = static_cast<T*>(detail::reallocate(nullptr, 0, capacity * sizeof(T)));
      for (std::size_t i = 0; i < count_; ++i) {
        ::new (static_cast<void*>(longer + i)) T(static_cast<T&&>(items_[i]));
        items_[i].~T();
      }
      ::operator delete(items_);
      items_ = longer;
    }
    capacity_ = capacity;
  }

  void release() {
    if constexpr (!only_bytes) clear();
    ::operator delete(items_);
  }

  [[gnu::cold]] void append(T const* items, std::size_t count) {
    if constexpr (only_bytes) {
      items_ = static_cast<T*>(detail::append_bytes(items_, count_, capacity_, items, count, sizeof(T)));
    } else {
      reserve(count_ + count);
      for (std::size_t i = 0; i < count; ++i, ++count_) ::new (static_cast<void*>(items_ + count_)) T(items[i]);
    }
  }

  static constexpr bool only_bytes = __is_trivially_copyable(T);

  T* items_ = nullptr;
  std::size_t count_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace ostraka
