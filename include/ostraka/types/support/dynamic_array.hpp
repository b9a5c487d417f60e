// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 1. An array that grows: what std::vector is to a program, without the hundred templates that it instantiates
/// for every type of elements, wherever this library is included (docs/benchmarks/compile.md).

#include <cstddef>
#include <initializer_list>
#include <new>

namespace ostraka {

namespace detail {

/// More memory for elements that are nothing but their bytes, of whatever type.
[[gnu::cold, gnu::noinline]] inline void* longer_memory(void* items, std::size_t used, std::size_t wanted) {
  void* const longer = ::operator new(wanted);
  if (used > 0) __builtin_memcpy(longer, items, used);
  ::operator delete(items);
  return longer;
}

}  // namespace detail

/// Elements in a row, as many as are put in. Growing moves them, and must not throw once there is memory.
template <class T>
class dynamic_array {
 public:
  dynamic_array() = default;
  explicit dynamic_array(std::size_t count) : dynamic_array() { resize(count); }
  dynamic_array(std::size_t count, T const& value) : dynamic_array() { assign(count, value); }
  dynamic_array(std::initializer_list<T> items) : dynamic_array() { append(items.begin(), items.size()); }

  /// The elements of another container in a row, a std::vector say.
  template <class Container>
    requires requires(Container const& c) { static_cast<T const*>(c.data()), c.size(); }
  dynamic_array(Container const& items) : dynamic_array() {
    append(items.data(), items.size());
  }

  dynamic_array(dynamic_array const& other) : dynamic_array() { append(other.items_, other.count_); }
  dynamic_array(dynamic_array&& other) noexcept { take(other); }
  dynamic_array& operator=(dynamic_array const& other) {
    if (this != &other) *this = dynamic_array(other);
    return *this;
  }
  dynamic_array& operator=(dynamic_array&& other) noexcept {
    if (this == &other) return *this;
    leave();
    take(other);
    return *this;
  }
  ~dynamic_array() {
    if (items_ != nullptr) leave();
  }

  void reserve(std::size_t capacity) {
    static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__ && noexcept(T(static_cast<T&&>(*items_))));
    if (capacity > capacity_) grow(capacity);
  }

  void push_back(T item) {
    if (count_ == capacity_) reserve(capacity_ == 0 ? 1 : 2 * capacity_);  // most have one element
    ::new (static_cast<void*>(items_ + count_)) T(static_cast<T&&>(item));
    ++count_;
  }
  void pop_back() { items_[--count_].~T(); }

  /// New elements are T().
  void resize(std::size_t count) {
    while (count_ > count) pop_back();
    reserve(count);
    for (; count_ < count; ++count_) ::new (static_cast<void*>(items_ + count_)) T();
  }
  [[gnu::cold]] void assign(std::size_t count, T const& value) {
    clear();
    reserve(count);
    for (; count_ < count; ++count_) ::new (static_cast<void*>(items_ + count_)) T(value);
  }
  void clear() {
    while (count_ > 0) pop_back();
  }

  /// Gives back the memory that no element needs.
  void shrink_to_fit() {
    if (count_ < capacity_) *this = dynamic_array(*this);
  }

  /// Takes out an element; those behind it move up.
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

  /// Is there an element that equals this one?
  [[nodiscard]] bool contains(T const& value) const { return find(value) != end(); }

  /// The first that does, or the end.
  [[nodiscard]] T const* find(T const& value) const {
    T const* at = begin();
    while (at != end() && !(*at == value)) ++at;
    return at;
  }

 private:
  // @pre nothing is here
  void take(dynamic_array& other) {
    items_ = other.items_;
    count_ = other.count_;
    capacity_ = other.capacity_;
    other.items_ = nullptr;
    other.count_ = other.capacity_ = 0;
  }

  [[gnu::cold, gnu::noinline]] void grow(std::size_t capacity) {
    if constexpr (__is_trivially_copyable(T)) {
      items_ = static_cast<T*>(detail::longer_memory(items_, count_ * sizeof(T), capacity * sizeof(T)));
    } else {
      T* const longer = static_cast<T*>(::operator new(capacity * sizeof(T)));
      for (std::size_t i = 0; i < count_; ++i) {
        ::new (static_cast<void*>(longer + i)) T(static_cast<T&&>(items_[i]));
        items_[i].~T();
      }
      ::operator delete(items_);
      items_ = longer;
    }
    capacity_ = capacity;
  }

  void leave() {
    clear();
    ::operator delete(items_);
  }

  [[gnu::cold]] void append(T const* items, std::size_t count) {
    reserve(count_ + count);
    for (std::size_t i = 0; i < count; ++i, ++count_) ::new (static_cast<void*>(items_ + count_)) T(items[i]);
  }

  T* items_ = nullptr;
  std::size_t count_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace ostraka
