// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::argmax<I/X>(A)`, `os::argmin<I/X>(A)`: the index of the largest or smallest element, over the axes
/// that the result lacks. If the axis is divided, one value and its index a row move, not the axis.
///
///     argmax over J    [I_X, J]      → [I_X]    nothing moved
///                      [I_X, J_Y]    → [I_X]    all-reduce over Y of [I_X], of values with their indices

#include <cstdint>

#include <ostraka/engine/kernels/accumulators/extreme_element.hpp>
#include <ostraka/operations/reductions/reduced_rows.hpp>

namespace ostraka {

namespace detail {

struct index_of_state {
  template <class T>
  KOKKOS_INLINE_FUNCTION std::int64_t operator()(engine::indexed<T> const& s) const {
    return s.index();
  }
};

}  // namespace detail

namespace operation {

/// The operation of os::argmax and os::argmin. `Out`: the sharding of the result.
template <reduction How, class Out>
struct index_of_extreme {
  static constexpr char const* name = How == reduction::max ? "argmax" : "argmin";

  template <class A>
  using verdict = detail::first_fault<
      detail::reducible_verdict<typename A::value_type, How, index_of_extreme>,
      detail::rows_verdict<index_of_extreme, Out, policy<planner::admit::any>, reduction::sum, std::int64_t, A>>;

  template <class A>
  using accumulator = engine::extreme_element<How, typename A::value_type>;

  template <class A>
  using moves = detail::moves_of_states<Out, typename accumulator<A>::state, std::int64_t, A>;

  template <class When, class A>
  auto run(When const&, A const& a) const {
    detail::require_elements(name, a, typename detail::row_types<Out, A>::gone{});
    return detail::reduce_as_states<Out, accumulator<A>, std::int64_t>(name, a, detail::index_of_state{});
  }
};

template <class Out>
using argmax = index_of_extreme<reduction::max, Out>;
template <class Out>
using argmin = index_of_extreme<reduction::min, Out>;

}  // namespace operation

/// The index of the largest element over the axes that the result lacks: its global index along the axis; for several
/// axes, its position among their elements, row-major in the order of A's axes. Of equal elements, the first one
/// counts, on every mesh; if there is a NaN, the first NaN. `os::argmax<I/X>(A)`
/// @throws ostraka::error, on all devices alike, if there are no elements
template <auto... Out, TensorOrVariable A, class... Nothing>
  requires(sizeof...(Nothing) == 0)
[[nodiscard]] constexpr auto argmax(A const& a, Nothing...) {
  return detail::operate(operation::argmax<sharding_of<Out...>>{}, a);
}

/// The index of the smallest element.
template <auto... Out, TensorOrVariable A, class... Nothing>
  requires(sizeof...(Nothing) == 0)
[[nodiscard]] constexpr auto argmin(A const& a, Nothing...) {
  return detail::operate(operation::argmin<sharding_of<Out...>>{}, a);
}

}  // namespace ostraka
