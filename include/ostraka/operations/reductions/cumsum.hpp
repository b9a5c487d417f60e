// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::cumsum<J>(A)`, cumprod, cummax, cummin: running sums along an axis. If the axis is divided, the rows'
/// totals move, one number a row, in ⌈log₂ n⌉ + 1 rounds.
///
///     cumsum<J>     [I_X, J]      → [I_X, J]      nothing moved
///     cumsum<J/Y>   [I_X, J_Y]    → [I_X, J_Y]    a scan over Y of [I_X]

#include <concepts>
#include <cstdint>

#include <ostraka/calls/along.hpp>
#include <ostraka/calls/moves.hpp>
#include <ostraka/engine/divided_rows/scan_axis.hpp>

namespace ostraka {

/// The options of running sums, after the tensor: `os::exclusive`, `os::reversed`, `os::exclusive | os::reversed`.
struct scan_option {
  bool is_exclusive;
  bool is_reversed;
  friend constexpr scan_option operator|(scan_option a, scan_option b) {
    return {a.is_exclusive || b.is_exclusive, a.is_reversed || b.is_reversed};
  }
};

/// Leaves out an element's own value in its sum; the first sum is the neutral element.
inline constexpr scan_option exclusive{true, false};
/// Sums run from the last element to the first.
inline constexpr scan_option reversed{false, true};

namespace detail {

/// The moves of a scan, exclusive or not: a total for each row, in the messages of an exclusive scan.
template <class Dim, class Total, class A>
struct moves_of_scan : moves_by_extents<moves_of_scan<Dim, Total, A>, axes_in<A>, mesh_axes_in<A>> {
  static constexpr std::int64_t bytes_moved(planner::extents const& e) {
    using mesh = mesh_axes_in<A>;
    std::int64_t const n = e.ways(mesh_axes_numbered<mesh>(typename axis_argument<Dim>::mesh{}));
    return engine::messages_of_scan(n, engine::scan_kind::exclusive) *
           (planner::held_by_all(spec_of<rows_of<Dim, A>, axes_in<A>, mesh>, e) / n) *
           static_cast<std::int64_t>(sizeof(Total));
  }
};

}  // namespace detail

namespace operation {

template <class Along, reduction How>
struct cumulate {
  static constexpr char const* name = How == reduction::sum    ? "cumsum"
                                      : How == reduction::prod ? "cumprod"
                                      : How == reduction::max  ? "cummax"
                                                               : "cummin";
  scan_option how{false, false};

  template <class A>
  using verdict =
      detail::along_verdict<cumulate, Along, A, detail::reducible_verdict<typename A::value_type, How, cumulate>>;

  template <class A>
  using moves = detail::moves_of_scan<Along, accumulator_of_t<typename A::value_type>, A>;

  template <class When, class A>
  auto run(When const&, A const& a) const {
    using labels = axes_in<A>;
    using mesh = mesh_axes_in<A>;
    using result_type = basic_tensor<typename A::value_type, sharding_in<A>, typename A::space>;
    static constexpr planner::spec block = spec_of<A, labels, mesh>;
    engine::execution_context const w = detail::context_of<labels, mesh>(name, a);
    result_type const result = detail::allocate_for<result_type, labels, mesh>(w, a);
    engine::scan_axis<How>(detail::execution_space_of<A>(), w, block, detail::dimension_of<Along, A>,
                           {how.is_exclusive, how.is_reversed}, detail::elements_of(a), result.local().data());
    return result;
  }
};

template <class Along>
using cumsum = cumulate<Along, reduction::sum>;

}  // namespace operation

/// a[0] + … + a[k] along an axis, named with the mesh axes that divide it: `os::cumsum<J>(A)`, `os::cumsum<J/Y>(A)`.
/// Elements of 16 bits are summed as floats. os::exclusive and os::reversed may follow.
template <auto Along, TensorOrVariable A, std::same_as<scan_option>... Options>
[[nodiscard]] constexpr auto cumsum(A const& a, Options... how) {
  return detail::operate(operation::cumulate<detail::type_of<Along>, reduction::sum>{(scan_option{} | ... | how)}, a);
}

/// Running products.
template <auto Along, TensorOrVariable A, std::same_as<scan_option>... Options>
[[nodiscard]] constexpr auto cumprod(A const& a, Options... how) {
  return detail::operate(operation::cumulate<detail::type_of<Along>, reduction::prod>{(scan_option{} | ... | how)}, a);
}

/// Running maxima. A NaN makes all later maxima NaN. With os::exclusive, the first one is −infinity (integers: the
/// smallest number).
template <auto Along, TensorOrVariable A, std::same_as<scan_option>... Options>
[[nodiscard]] constexpr auto cummax(A const& a, Options... how) {
  return detail::operate(operation::cumulate<detail::type_of<Along>, reduction::max>{(scan_option{} | ... | how)}, a);
}

/// Running minima.
template <auto Along, TensorOrVariable A, std::same_as<scan_option>... Options>
[[nodiscard]] constexpr auto cummin(A const& a, Options... how) {
  return detail::operate(operation::cumulate<detail::type_of<Along>, reduction::min>{(scan_option{} | ... | how)}, a);
}

}  // namespace ostraka
