// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Memory for operands like that of the library's tensors: aligned to cache lines, and on large pages if the system
/// provides them on request, as for NumPy's arrays. Reading across pages of 4 KB takes up to twice as long for any
/// code, so every contestant gets the same memory.

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <new>
#include <vector>

#include <ostraka/engine/memory/large_pages.hpp>

namespace bench {

template <class T>
struct as_tensors_have_it {
  using value_type = T;
  static constexpr std::align_val_t line{64};

  as_tensors_have_it() = default;
  template <class U>
  as_tensors_have_it(as_tensors_have_it<U> const&) {}

  T* allocate(std::size_t n) {
    void* const memory = ::operator new(n * sizeof(T), line);
    ostraka::engine::request_large_pages<Kokkos::HostSpace>(memory, n * sizeof(T));
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t) { ::operator delete(memory, line); }

  template <class U>
  bool operator==(as_tensors_have_it<U> const&) const { return true; }
};

template <class T>
using block = std::vector<T, as_tensors_have_it<T>>;

}  // namespace bench
