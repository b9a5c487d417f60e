// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Counts the allocations of a test program. It replaces malloc and operator new, so include it in one file of a
/// program. A call counts if it comes from this program, which contains the library and, linked statically, Kokkos, or
/// if it is an operator new. So allocations of MPI, BLAS and OpenMP do not count, and neither do the sham device's.
/// OSTRAKA_COUNTS_ALLOCATIONS is defined if this works.

#include <cstddef>
#include <cstdlib>
#include <new>

#include <doctest/doctest.h>

#include <Kokkos_Core.hpp>

#include "support/in_driver.hpp"
#include "support/no_call_check.hpp"
#include "support/on_meshes.hpp"

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)
#define OSTRAKA_COUNTS_ALLOCATIONS 1

extern "C" {

extern char __executable_start, etext;
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

}  // extern "C"

namespace ostraka::testing {

inline long counted = 0;

inline bool in_this_program(void const* caller) { return caller >= &__executable_start && caller < &etext; }

inline void count_if(bool ours) { counted += ours && !in_driver() ? 1 : 0; }

}  // namespace ostraka::testing

extern "C" {

void* malloc(std::size_t bytes) {
  ostraka::testing::count_if(ostraka::testing::in_this_program(__builtin_return_address(0)));
  return __libc_malloc(bytes);
}
void* calloc(std::size_t n, std::size_t bytes) {
  ostraka::testing::count_if(ostraka::testing::in_this_program(__builtin_return_address(0)));
  return __libc_calloc(n, bytes);
}
void* realloc(void* old, std::size_t bytes) {
  ostraka::testing::count_if(ostraka::testing::in_this_program(__builtin_return_address(0)));
  return __libc_realloc(old, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  ostraka::testing::count_if(ostraka::testing::in_this_program(__builtin_return_address(0)));
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) {
  ostraka::testing::count_if(ostraka::testing::in_this_program(__builtin_return_address(0)));
  *memory = __libc_memalign(alignment, bytes);
  return *memory == nullptr ? 12 : 0;  // ENOMEM
}

}  // extern "C"

[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ostraka::testing::count_if(true);
  if (void* const memory = __libc_malloc(bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  ostraka::testing::count_if(true);
  if (void* const memory = __libc_memalign(static_cast<std::size_t>(alignment), bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace ostraka::testing {

template <class F>
long allocations_of(F const& f) {
  long const before = counted;
  f();
  return counted - before;
}

// The most allocations of the third to the tenth repetition.
template <class F>
long most_in_steady_state(F const& f) {
  long most = 0;
  for (int i = 0; i < 10; ++i) {
    long const n = allocations_of(f);
    if (i >= 2 && n > most) most = n;
  }
  return most;
}

// Kokkos' allocations for a block of two dimensions.
inline long block_of_a_result() {
  using view = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::DefaultExecutionSpace::device_type>;
  return allocations_of([] { view const v(Kokkos::view_alloc(Kokkos::WithoutInitializing, "ostraka tensor"), 4, 4); });
}

inline test_mesh make_mesh() {
  switch (ranks()) {
    case 1:
      return test_mesh({"XYZ", {1, 1, 1}});
    case 2:
      return test_mesh({"XYZ", {2, 1, 1}});
    default:
      return test_mesh({"XYZ", {2, ranks() / 2, 1}});
  }
}

template <auto... Dims>
auto made(test_mesh const& m, extents_by_letter const& e) {
  using tensor = ostraka::tensor<double, Dims...>;
  return placed<tensor>(m, whole_numbers<double>(letters_in<tensor>(), e, 5));
}

// Calls f for blocks that our own kernels multiply, for blocks that BLAS multiplies, and for uneven blocks.
template <class F>
void for_several_extents(F const& f) {
  test_mesh const m = make_mesh();
  for (int n : {6, 128, 7}) {
    extents_by_letter const e{{'B', 2}, {'I', n}, {'J', n + 2}, {'K', n - 1}, {'L', 2}};
    INFO("about ", n, " elements along each axis");
    f(m, e);
  }
}

}  // namespace ostraka::testing

#endif
