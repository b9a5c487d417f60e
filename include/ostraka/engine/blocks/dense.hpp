// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Sets, copies, changes in place or combines all elements of dense blocks. On the host, a function returns
/// when all elements are written.

#include <Kokkos_Core.hpp>

#include <cstdint>

#include <ostraka/engine/kernels/copy_strided.hpp>
#include <ostraka/engine/kernels/elementwise.hpp>
#include <ostraka/engine/kernels/loops/parallel.hpp>

namespace ostraka::engine {

namespace detail {

template <class T, class Numbers>
struct store_number {
  T* to;
  Numbers from;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const { to[i] = static_cast<T>(from[i]); }
};

}  // namespace detail

/// Every element <- value.
template <class Exec, class T>
void fill_block(Exec const& exec, T* block, std::int64_t elements, T const& value) {
  fill(exec, block, elements, value);
  fence_on_host(exec);
}

/// to[i] <- from[i] for the first n of a few numbers, which one kernel carries.
template <class Exec, class T, class Numbers>
void store_numbers(Exec const& exec, T* to, Numbers const& from, std::int64_t n) {
  for_each_item("ostraka store", exec, n, n, detail::store_number<T, Numbers>{to, from});
  fence_on_host(exec);
}

/// to <- from
template <class Exec, class T>
void copy_block(Exec const& exec, T* to, T const* from, std::int64_t elements) {
  strided const run = row_major({elements});
  copy(exec, to, run, from, run);
  fence_on_host(exec);
}

/// x <- f(x) for every element.
template <class Exec, class T, class F>
void change_block(Exec const& exec, T* block, std::int64_t elements, F const& f) {
  loop_nest<2> loops;
  loops.add(elements, 1, 1);
  map_elements(exec, loops, f, block, static_cast<T const*>(block));
  fence_on_host(exec);
}

/// to <- f(a, b) for every element; `to` may be one of the two.
template <class Exec, class T, class F>
void combine_blocks(Exec const& exec, T* to, F const& f, T const* a, T const* b, std::int64_t elements) {
  loop_nest<3> loops;
  loops.add(elements, 1, 1, 1);
  map_elements(exec, loops, f, to, a, b);
  fence_on_host(exec);
}

}  // namespace ostraka::engine
