// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Stencils on one device: b[i, j] = f(a around (i, j), c[i, j], …), where f reads neighbours by their
/// offsets.

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <ostraka/engine/kernels/loops/loop_nest.hpp>
#include <ostraka/engine/kernels/portable/point_kernel.hpp>
#include <ostraka/types/reasons.hpp>

namespace ostraka {

/// A point of a padded block and its neighbours: the argument of the function of os::stencil for such a block. With I
/// and J padded, `x(0, 0)` is the point, and `x(-1, 0)` is the point before it along I.
template <class T, int Axes>
class neighbours {
 public:
  KOKKOS_INLINE_FUNCTION neighbours(T const* point, std::int64_t const* stride) : point_(point) {
    for (int k = 0; k < Axes; ++k) stride_[k] = stride[k];
  }

  /// Returns the element at this offset from the point, with one number for each padded axis.
  template <class... Steps>
  KOKKOS_INLINE_FUNCTION T const& operator()(Steps... steps) const {
    using fits [[maybe_unused]] = char[sizeof(reason::stencil_step_missing<static_cast<int>(sizeof...(Steps)), Axes>)];
    int k = 0;
    std::int64_t at = 0;
    ((at += static_cast<std::int64_t>(steps) * stride_[k++]), ...);
    return point_[at];
  }

 private:
  T const* point_;
  std::int64_t stride_[Axes];
};

/// The offset of a neighbour from a point, in indices along the padded axes. It names the element with respect to which
/// the function of os::stencil returns its derivative: {-1, 0} for x(-1, 0).
template <int Axes>
struct neighbour {
  int step[Axes]{};  ///< one number for each padded axis

  /// Returns the offset along a padded axis.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION constexpr int operator[](int axis) const { return step[axis]; }

  /// Returns the distance from the point in indices, summed over all axes; 0 for the point itself.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION constexpr int distance() const {
    int sum = 0;
    for (int k = 0; k < Axes; ++k) sum += step[k] < 0 ? -step[k] : step[k];
    return sum;
  }
};

}  // namespace ostraka

namespace ostraka::engine {

/// An operand of a function of points: the neighbourhood of each point along `Axes` axes, or, for Axes = 0, a reference
/// to the element at the point.
template <class T, int Axes>
struct stencil_source {
  T* data;  ///< the element at the first point
  std::int64_t stride[Axes > 0 ? Axes : 1];

  KOKKOS_INLINE_FUNCTION decltype(auto) at(std::int64_t offset) const {
    if constexpr (Axes > 0)
      return neighbours<std::remove_const_t<T>, Axes>(data + offset, stride);
    else
      return (data[offset]);
  }
};

/// A function of points that writes f's value to its first argument.
template <class F>
struct written_value {
  F f;
  template <class R, class... Given>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(R& to, Given const&... given) const {
    to = static_cast<R>(f(given...));
  }
};

/// result <- f around each point of the loops, over the result (number 0) and the sources.
template <class Exec, class R, class F, class... Sources>
void stencil(Exec const& exec, loop_nest<static_cast<int>(sizeof...(Sources)) + 1> const& loops, F const& f, R* result,
             Sources const&... in) {
  each_point<no_sum>(exec, loops, written_value<std::decay_t<F>>{f}, stencil_source<R, 0>{result, {}}, in...);
}

}  // namespace ostraka::engine
