// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::roll<I>(A, 3)`: index i of the result is index i − 3, cyclically. `os::flip<I>(A)`: the indices of an
/// axis in reverse.
///
///     roll<I>      [I, J]   → [I, J]      nothing moves
///     roll<I/X>    [I_X, J] → [I_X, J]    by less than a block: that many rows, to the next device
///     flip<I/X>    [I_X, J] → [I_X, J]    blocks, to the mirrored device

#include <cstddef>
#include <cstdint>

#include <ostraka/calls/operate.hpp>
#include <ostraka/operations/shapes/rearrange.hpp>

namespace ostraka {

namespace operation {

template <class Along>
struct roll : detail::rearranges<roll<Along>, Along, detail::result_extent::of_operand> {
  static constexpr char const* name = "roll";
  std::int64_t by = 0;

  template <class A>
  using verdict = detail::rearrangement_verdict<roll, Along, false, A>;

  template <class A>
  [[nodiscard]] constexpr planner::rearrangement pieces(A const& a) const {
    std::int64_t const n = a.extents()[static_cast<std::size_t>(detail::dimension_of<Along, A>)];
    std::int64_t const s = n == 0 ? 0 : (by % n + n) % n;
    planner::rearrangement r;
    r.extent[0] = r.result = n;
    r.pieces.push_back({0, 0, 1, s, 1, n - s});
    if (s > 0) r.pieces.push_back({0, n - s, 1, 0, 1, s});
    return r;
  }
};

template <class Along>
struct flip : detail::rearranges<flip<Along>, Along, detail::result_extent::of_operand> {
  static constexpr char const* name = "flip";

  template <class A>
  using verdict = detail::rearrangement_verdict<flip, Along, false, A>;
  template <class A>
  using moves = detail::moves_of_rearrangement<flip, Along, A>;

  /// The pieces for an axis of n indices.
  [[nodiscard]] static constexpr planner::rearrangement pieces_of(std::int64_t n) {
    planner::rearrangement r;
    r.extent[0] = r.result = n;
    r.pieces.push_back({0, n - 1, -1, 0, 1, n});
    return r;
  }
  template <class A>
  [[nodiscard]] constexpr planner::rearrangement pieces(A const& a) const {
    return pieces_of(a.extents()[static_cast<std::size_t>(detail::dimension_of<Along, A>)]);
  }
};

}  // namespace operation

/// Shifts the indices of an axis, named with the mesh axes that divide it, cyclically: indices that leave at one end
/// come in at the other. A negative number shifts back.
template <auto Along, TensorOrVariable A>
[[nodiscard]] constexpr auto roll(A const& a, std::int64_t by) {
  return detail::operate(operation::roll<detail::type_of<Along>>{{}, by}, a);
}

/// Reverses the indices of an axis, named with the mesh axes that divide it.
template <auto Along, TensorOrVariable A>
[[nodiscard]] constexpr auto flip(A const& a) {
  return detail::operate(operation::flip<detail::type_of<Along>>{}, a);
}

}  // namespace ostraka
