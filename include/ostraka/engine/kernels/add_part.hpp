// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Adds a strided block to another: copy_strided.hpp for sums.

#include <Kokkos_Core.hpp>

#include <ostraka/engine/kernels/elementwise.hpp>
#include <ostraka/engine/kernels/loops/loop_nest.hpp>

namespace ostraka::engine {

namespace detail {

struct sum_of_two {
  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(T const& a, T const& b) const noexcept {
    return T(a + b);
  }
};

}  // namespace detail

/// to[…] += from[…] for every index. Both have the same extents, the blocks do not overlap.
template <class Exec, class T>
void add_part(Exec const& exec, T* to, strided const& to_layout, T const* from, strided const& from_layout) {
  map_elements(exec, loops_along(to_layout, to_layout, from_layout), detail::sum_of_two{}, to,
               static_cast<T const*>(to), from);
}

}  // namespace ostraka::engine
