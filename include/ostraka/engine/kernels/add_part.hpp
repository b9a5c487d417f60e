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
  loop_nest<3> loops;
  for (int d = 0; d < to_layout.rank; ++d)
    loops.add(to_layout.extent[d], to_layout.stride[d], to_layout.stride[d], from_layout.stride[d]);
  map_elements(exec, loops, detail::sum_of_two{}, to, static_cast<T const*>(to), from);
}

}  // namespace ostraka::engine
