// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The derivatives of operations that rearrange a tensor. Each is the opposite rearrangement, and moves back
/// what the forward moved.
///
///     split      merge                        roll by k      roll by −k
///     merge      split                        flip           flip
///     transpose  transpose                    window         pad with zeros; with a step, spread
///     broadcast  sum over the new axes        pad            window
///     stripe     unstripe
///     triangle   triangle                     concatenate    a window for each operand

#include <array>
#include <cstddef>
#include <cstdint>

#include <ostraka/gradient/rules/derivative_of.hpp>
#include <ostraka/operations/creation/triangle.hpp>
#include <ostraka/operations/positions/stripe.hpp>
#include <ostraka/operations/shapes/concatenate.hpp>
#include <ostraka/operations/shapes/merge.hpp>
#include <ostraka/operations/shapes/roll.hpp>
#include <ostraka/operations/shapes/split.hpp>
#include <ostraka/operations/shapes/transpose.hpp>
#include <ostraka/operations/shapes/window.hpp>

namespace ostraka {

namespace detail {

/// Applies `back`, the transpose of a linear operation, to the cotangent.
template <class Operation>
struct transposed_pullback {
  Operation back;

  template <int, class Wanted, class G>
  constexpr Wanted pull(G const& g) const {
    return summed_to<Wanted>(operate(back, g));
  }
};

/// The extent of a tensor or a variable along the axis `Dim`.
template <class Dim, class A>
constexpr std::int64_t argument_extent(A const& a) {
  return a.extents()[static_cast<std::size_t>(position_in<typename axis_argument<Dim>::axis, axes_in<A>>)];
}

/// The transpose to this order of the axes.
template <class Axes>
struct transpose_to;
template <class... Is>
struct transpose_to<type_list<Is...>> {
  using type = ostraka::operation::transpose<Is...>;
};

/// The sharding of an operand's cotangents, expressed in the axes of an operation that returns the same elements under
/// other axes, so that later operations compute it directly. `Kept` are axes that must be divided there as in the
/// operand itself.
template <class Operation, class Result, class A, class... Kept>
struct reshaped_cotangent {
  using type = cotangent_of<Result>;
};
template <class Operation, class Result, class T, class U, class Sharding, class Space, class... Kept>
  requires(std::is_same_v<splits_of<Kept, sharding_in<T>>, splits_of<Kept, Sharding>>&&...)
struct reshaped_cotangent<Operation, Result, variable<T, basic_tensor<U, Sharding, Space>>, Kept...> {
  using type = basic_tensor<U, typename Operation::template result<basic_tensor<U, Sharding, Space>>, Space>;
};

/// The begin of each of `count` operands along an axis, and the end of the last one.
template <class Along, int Count>
struct concatenate_pullback {
  std::array<std::int64_t, static_cast<std::size_t>(Count) + 1> begin{};

  template <int K, class Wanted, class G>
  constexpr Wanted pull(G const& g) const {
    constexpr auto k = static_cast<std::size_t>(K);
    return summed_to<Wanted>(operate(ostraka::operation::window<Along>{{}, begin[k], begin[k + 1], 1}, g));
  }
};

}  // namespace detail

template <class HD, class H, class D>
struct derivative_of<operation::split<HD, H, D>> {
  template <class Result, class A>
  using operand_cotangent = typename detail::reshaped_cotangent<operation::split<HD, H, D>, Result, A, HD>::type;

  template <class Result, class A>
  static constexpr auto pullback(operation::split<HD, H, D> const&, Result const&, A const&) {
    return detail::transposed_pullback<operation::merge<H, D, HD>>{};
  }
};

template <class H, class D, class HD>
struct derivative_of<operation::merge<H, D, HD>> {
  template <class Result, class A>
  using operand_cotangent = typename detail::reshaped_cotangent<operation::merge<H, D, HD>, Result, A, H, D>::type;

  template <class Result, class A>
  static constexpr auto pullback(operation::merge<H, D, HD> const&, Result const&, A const& a) {
    using split = operation::split<HD, H, D>;
    return detail::transposed_pullback<split>{split{{}, detail::argument_extent<H>(a), detail::argument_extent<D>(a)}};
  }
};

template <class... Is>
struct derivative_of<operation::transpose<Is...>> {
  template <class Result, class A>
  using operand_cotangent = typename detail::reshaped_cotangent<operation::transpose<Is...>, Result, A>::type;

  template <class Result, class A>
  static constexpr auto pullback(operation::transpose<Is...> const&, Result const&, A const&) {
    return detail::transposed_pullback<typename detail::transpose_to<axes_in<A>>::type>{};
  }
};

template <class Along>
struct derivative_of<operation::window<Along>> {
  template <class Result, class A>
  static constexpr auto pullback(operation::window<Along> const& window, Result const&, A const& a) {
    using spread = operation::spread<Along>;
    return detail::transposed_pullback<spread>{
        spread{{}, window.begin, window.step, detail::argument_extent<Along>(a)}};
  }
};

template <class Along>
struct derivative_of<operation::spread<Along>> {
  template <class Result, class A>
  static constexpr auto pullback(operation::spread<Along> const& spread, Result const&, A const& a) {
    using window = operation::window<Along>;
    std::int64_t const n = detail::argument_extent<Along>(a);
    std::int64_t const end = n == 0 ? spread.begin : spread.begin + (n - 1) * spread.step + 1;
    return detail::transposed_pullback<window>{window{{}, spread.begin, end, spread.step}};
  }
};

template <class Along, class Value>
struct derivative_of<operation::pad<Along, Value>> {
  template <class Result, class A>
  static constexpr auto pullback(operation::pad<Along, Value> const& pad, Result const&, A const& a) {
    using window = operation::window<Along>;
    return detail::transposed_pullback<window>{
        window{{}, pad.before, pad.before + detail::argument_extent<Along>(a), 1}};
  }
};

template <class Dim>
struct derivative_of<operation::stripe<Dim>> {
  template <class Result, class A>
  static constexpr auto pullback(operation::stripe<Dim> const& stripe, Result const&, A const&) {
    return detail::transposed_pullback<operation::stripe<Dim>>{{!stripe.is_back}};
  }
};

template <class Along>
struct derivative_of<operation::roll<Along>> {
  template <class Result, class A>
  static constexpr auto pullback(operation::roll<Along> const& roll, Result const&, A const&) {
    return detail::transposed_pullback<operation::roll<Along>>{operation::roll<Along>{{}, -roll.by}};
  }
};

template <class Along>
struct derivative_of<operation::flip<Along>> {
  template <class Result, class A>
  static constexpr auto pullback(operation::flip<Along> const& flip, Result const&, A const&) {
    return detail::transposed_pullback<operation::flip<Along>>{flip};
  }
};

template <bool Lower, class Row, class Column>
struct derivative_of<operation::triangle<Lower, Row, Column>> {
  template <class Result, class A>
  static constexpr auto pullback(operation::triangle<Lower, Row, Column> const& triangle, Result const&, A const&) {
    return detail::transposed_pullback<operation::triangle<Lower, Row, Column>>{triangle};
  }
};

template <class Along>
struct derivative_of<operation::concatenate<Along>> {
  template <class Result, class... Given>
  static constexpr auto pullback(operation::concatenate<Along> const&, Result const&, Given const&... given) {
    detail::concatenate_pullback<Along, static_cast<int>(sizeof...(Given))> back;
    std::size_t k = 0;
    ((back.begin[k + 1] = back.begin[k] + detail::argument_extent<Along>(given), ++k), ...);
    return back;
  }
};

}  // namespace ostraka
