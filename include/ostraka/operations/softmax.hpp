// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::softmax<V>(A)`: exp(a) over its sum along V. Of a V that is divided one maximum and one sum a row move.
///
///     softmax<V>     [B_X, V]      → [B_X, V]       nothing moved
///     softmax<V/Y>   [B_X, V_Y]    → [B_X, V_Y]     all_reduce<Y> of [B_X], twice

#include <cmath>
#include <cstdint>
#include <type_traits>

#include <ostraka/arithmetic.hpp>
#include <ostraka/operations/along.hpp>
#include <ostraka/reductions.hpp>

namespace ostraka {

namespace detail {

struct exp_of_difference {
  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(T const& a, T const& largest) const {
    return T(std::exp(static_cast<accumulator_of_t<T>>(a) - static_cast<accumulator_of_t<T>>(largest)));
  }
};

}  // namespace detail

namespace operation {

template <class Along>
struct softmax {
  static constexpr char const* name = "softmax";

  template <class A>
  using verdict = detail::along_verdict<softmax, Along, A>;

  /// Two numbers a row, reduced.
  template <class A>
  [[nodiscard]] std::int64_t bytes(A const& a) const {
    return 2 * detail::bytes_of_reduction<detail::rows_of<Along, A>>(a);
  }

  template <class A>
  auto operator()(A const& a) const {
    using rows = detail::rows_of<Along, A>;
    policy<planner::admit::any> const how;
    auto const e = ostraka::map(detail::exp_of_difference{}, a, detail::reduce<rows, reduction::max>(name, a, how));
    return ostraka::divide(e, detail::reduce<rows, reduction::sum>(name, e, how));
  }
};

}  // namespace operation

/// exp(a) / Σ exp(a) along an axis, told as it lies: `os::softmax<V>(A)`, `os::softmax<V/X>(A)`.
template <auto Along, TensorOrVariable A>
[[nodiscard]] auto softmax(A const& a) {
  return detail::operate(operation::softmax<detail::type_of<Along>>{}, a);
}

}  // namespace ostraka
