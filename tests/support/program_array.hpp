// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// A program's own array where tensors are stored, which the host of a GPU cannot read, and a copy of it that the host
/// reads and writes. Where the host can read the array, both are the same.

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <utility>

namespace ostraka::testing {

template <class T>
class program_array {
 public:
  explicit program_array(std::size_t n = 0, T const& value = T())
      : array_(std::string("program's array"), n), here_(Kokkos::create_mirror_view(array_)) {
    Kokkos::deep_copy(here_, value);
    send();
  }
  program_array(std::initializer_list<T> values) : program_array(values.size()) {
    std::copy(values.begin(), values.end(), here_.data());
    send();
  }

  [[nodiscard]] std::size_t size() const { return here_.size(); }
  [[nodiscard]] bool empty() const { return size() == 0; }
  [[nodiscard]] T* data() const { return array_.data(); }
  [[nodiscard]] Kokkos::View<T*> const& view() const { return array_; }

  // These read and write the copy.
  [[nodiscard]] T& operator[](std::size_t at) const { return here_.data()[at]; }
  [[nodiscard]] T const* begin() const { return here_.data(); }
  [[nodiscard]] T const* end() const { return here_.data() + here_.size(); }

  /// Becomes another array, as std::vector's does.
  void assign(std::size_t n, T const& value) { *this = program_array(n, value); }

  void send() const { Kokkos::deep_copy(array_, here_); }

  /// @pre kernels that write to the array may still run
  void fetch() const {
    Kokkos::fence();
    Kokkos::deep_copy(here_, array_);
  }

 private:
  Kokkos::View<T*> array_;
  decltype(Kokkos::create_mirror_view(std::declval<Kokkos::View<T*>&>())) here_;
};

}  // namespace ostraka::testing
