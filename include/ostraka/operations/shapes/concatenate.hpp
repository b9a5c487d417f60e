// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::concatenate<I>(A, B, …)`: concatenates tensors of one sharding along an axis.
///
///     concatenate<I>      [I, J], [I, J]       → [I, J]       nothing moves
///     concatenate<I/X>    [I_X, J], [I_X, J]   → [I_X, J]     elements move to their devices in the result

#include <array>
#include <cstddef>
#include <cstdint>

#include <ostraka/calls/operate.hpp>
#include <ostraka/operations/shapes/rearrange.hpp>

namespace ostraka {

namespace operation {

template <class Along>
struct concatenate : detail::rearranges<concatenate<Along>, Along, detail::result_extent::added_up> {
  static constexpr char const* name = "concatenate";

  template <class First, class... Rest>
  static consteval auto check() {
    constexpr int count = static_cast<int>(sizeof...(Rest)) + 1;
    if constexpr (count > planner::max_pieces)
      return detail::found<reason::too_many_operands<count>>{};
    else
      return detail::found<detail::rearrangement_verdict<concatenate, Along, true, First, Rest...>>{};
  }
  template <class... Operands>
  using verdict = typename decltype(check<Operands...>())::type;

  template <class First, class... Rest>
  [[nodiscard]] constexpr planner::rearrangement pieces(First const& first, Rest const&... rest) const {
    constexpr auto along = static_cast<std::size_t>(detail::dimension_of<Along, First>);
    std::int64_t const extents[] = {first.extents()[along], rest.extents()[along]...};
    planner::rearrangement r;
    for (std::int64_t const n : extents) {
      int const k = r.pieces.size();
      r.extent[k] = n;
      r.pieces.push_back({k, 0, 1, r.result, 1, n});
      r.result += n;
    }
    return r;
  }
};

}  // namespace operation

/// Concatenates the operands along an axis, named with the mesh axes that divide it in all of them. The operands have
/// the same axes and sharding, and the same extents along all other axes. @throws ostraka::error, on all devices alike,
/// if these extents differ
template <auto Along, TensorOrVariable First, TensorOrVariable... Rest>
[[nodiscard]] constexpr auto concatenate(First const& first, Rest const&... rest) {
  return detail::operate(operation::concatenate<detail::type_of<Along>>{}, first, rest...);
}

}  // namespace ostraka
