// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::window<I>(A, 2, 10)`: indices 2 to 9 of an axis, x[2:10]; `os::window<I>(A, 2, 10, 3)` every third of
/// them. `os::pad<I>(A, 2, 3)`: two zeros before and three after; `os::pad<I>(A, 2, 3, value)`. If the axis is
/// divided, so is the result, and elements whose device changes move.
///
///     window<I>      [I, J]      → [I, J]           nothing moves
///     window<I/X>    [I_X, J]    → [I_X, J]         elements move to their devices in the result
///     pad<I/X>       [I_X] {U_Y} → [I_X] {U_Y}      with zeros

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include <ostraka/calls/numbers.hpp>
#include <ostraka/calls/operate.hpp>
#include <ostraka/operations/shapes/rearrange.hpp>
#include <ostraka/types/support/error.hpp>

namespace ostraka {

namespace detail {

[[noreturn, gnu::cold]] inline void throw_no_window(std::string_view axis, std::int64_t begin, std::int64_t end,
                                                    std::int64_t step, std::int64_t extent) {
  throw_error("window: a window lies within its axis and has a step of at least 1, but [", begin, ", ", end, ") by ",
              step, " of ", axis, " = ", extent,
              " was asked for; count from 0, and give the first index that is left out as the end");
}

[[noreturn, gnu::cold]] inline void throw_negative_pad(std::string_view axis, std::int64_t before,
                                                       std::int64_t behind) {
  throw_error("pad: the numbers of added indices are not negative, but ", before, " before and ", behind, " behind ",
              axis, " were asked for; remove indices with os::window");
}

// The value of a pad: zeros, which are valid for partial tensors, too, or a number.
struct zeros_of_pad {};

template <class A, class Operation, class Value>
consteval auto check_pad_value() {
  using partials = typename sharding_traits<sharding_in<A>>::partial_entries;
  if constexpr (std::is_same_v<Value, zeros_of_pad>) {
    return found<reason::ok>{};
  } else if constexpr (partials::size == 0 ||
                       !std::is_same_v<number_verdict<Value, typename A::value_type>, reason::ok>) {
    return found<number_verdict<Value, typename A::value_type>>{};
  } else {
    constexpr reduction kind = type_at<partials, 0>::type::kind;
    if constexpr (kind == reduction::sum || kind == reduction::prod)
      return found<reason::partial_in_nonlinear_operation<
          typename type_at<typename sharding_traits<sharding_in<A>>::partials, 0>::type, Operation>>{};
    else
      return found<reason::ok>{};
  }
}

}  // namespace detail

namespace operation {

template <class Along>
struct window : detail::rearranges<window<Along>, Along, detail::result_extent::of_numbers> {
  static constexpr char const* name = "window";
  std::int64_t begin = 0;
  std::int64_t end = 0;  ///< the first index that is left out
  std::int64_t step = 1;

  template <class A>
  using verdict = detail::rearrangement_verdict<window, Along, true, A>;

  template <class A>
  [[nodiscard]] constexpr planner::rearrangement pieces(A const& a) const {
    constexpr auto along = static_cast<std::size_t>(detail::dimension_of<Along, A>);
    std::int64_t const extent = detail::least_extent<Along>(name, a);
    if (begin < 0 || begin > end || end > extent || step < 1)
      detail::throw_no_window(detail::names_of<axes_in<A>>[along], begin, end, step, extent);
    planner::rearrangement r;
    r.extent[0] = a.extents()[along];
    r.result = (end - begin + step - 1) / step;
    r.pieces.push_back({0, begin, step, 0, 1, r.result});
    return r;
  }
};

/// The transpose of a window: index k becomes index `begin` + k · `step` of an axis of this extent; all others are
/// zero. The derivative of os::window calls it.
template <class Along>
struct spread : detail::rearranges<spread<Along>, Along, detail::result_extent::of_numbers> {
  static constexpr char const* name = "spread";
  std::int64_t begin = 0;
  std::int64_t step = 1;
  std::int64_t extent = 0;

  template <class A>
  using verdict = detail::rearrangement_verdict<spread, Along, true, A>;

  template <class A>
  [[nodiscard]] constexpr planner::rearrangement pieces(A const& a) const {
    planner::rearrangement r;
    std::int64_t const n = r.extent[0] = a.extents()[static_cast<std::size_t>(detail::dimension_of<Along, A>)];
    r.result = extent;
    r.is_sparse = true;
    r.pieces.push_back({0, 0, 1, begin, step, n});
    return r;
  }
};

template <class Along, class Value = detail::zeros_of_pad>
struct pad : detail::rearranges<pad<Along, Value>, Along, detail::result_extent::added_up> {
  static constexpr char const* name = "pad";
  std::int64_t before = 0;
  std::int64_t behind = 0;
  Value value{};

  template <class A>
  static consteval auto check() {
    using own = detail::rearrangement_verdict<pad, Along, true, A>;
    if constexpr (!std::is_same_v<own, reason::ok>)
      return detail::found<own>{};
    else
      return detail::check_pad_value<A, pad, Value>();
  }
  template <class A>
  using verdict = typename decltype(check<A>())::type;

  template <class A>
  [[nodiscard]] constexpr planner::rearrangement pieces(A const& a) const {
    constexpr auto along = static_cast<std::size_t>(detail::dimension_of<Along, A>);
    if (before < 0 || behind < 0) detail::throw_negative_pad(detail::names_of<axes_in<A>>[along], before, behind);
    planner::rearrangement r;
    std::int64_t const n = r.extent[0] = a.extents()[along];
    r.result = before + n + behind;
    r.pieces.push_back({0, 0, 1, before, 1, n});
    r.blanks.push_back({0, before});
    r.blanks.push_back({before + n, r.result});
    return r;
  }

  template <class T>
  [[nodiscard]] T blank() const {
    if constexpr (std::is_same_v<Value, detail::zeros_of_pad>)
      return T{};
    else
      return detail::as_element<T>(name, value);
  }
};

}  // namespace operation

/// Every `step`-th of the indices [begin, end) of an axis, named with the mesh axes that divide it. The result is
/// divided as the operand is.
/// @throws ostraka::error, on all devices alike, unless 0 ≤ begin ≤ end ≤ extent and step > 0
template <auto Along, TensorOrVariable A>
[[nodiscard]] constexpr auto window(A const& a, std::int64_t begin, std::int64_t end, std::int64_t step = 1) {
  return detail::operate(operation::window<detail::type_of<Along>>{{}, begin, end, step}, a);
}

/// Adds this many zeros before and after the indices of an axis, named with the mesh axes that divide it. @throws
/// ostraka::error, on all devices alike, if a number is negative
template <auto Along, TensorOrVariable A>
[[nodiscard]] constexpr auto pad(A const& a, std::int64_t before, std::int64_t behind) {
  return detail::operate(operation::pad<detail::type_of<Along>>{{}, before, behind, {}}, a);
}

/// The same with another value. Partial tensors are padded only with zeros (or by max, min, and, or: with any value).
template <auto Along, TensorOrVariable A, class Value>
[[nodiscard]] constexpr auto pad(A const& a, std::int64_t before, std::int64_t behind, Value const& value) {
  return detail::operate(operation::pad<detail::type_of<Along>, Value>{{}, before, behind, value}, a);
}

}  // namespace ostraka
