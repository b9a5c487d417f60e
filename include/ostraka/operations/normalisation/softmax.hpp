// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::softmax<V>(A)`: exp(a) divided by its sum along V; `os::log_softmax<V>(A)`, its logarithm;
/// `os::log_sum_exp<V>(A)`, the logarithm of the sum. If V is divided, a maximum and a sum a row move, in one message.
///
///     softmax<V>       [B_X, V]      → [B_X, V]      nothing moved
///     softmax<V/Y>     [B_X, V_Y]    → [B_X, V_Y]    all-reduce over Y of [B_X], two numbers each
///     log_sum_exp<V/Y> [B_X, V_Y]    → [B_X]         the same
///
/// A mask may follow the tensor, bool or integers, with any of its axes: hidden elements do not count, and become
/// 0. A row that holds only −∞, or is entirely hidden, becomes zeros (its logarithms −∞), as attention needs; other
/// libraries return NaN. NaN and +∞ make a row NaN, unless the mask hides them.

#include <cstdint>
#include <type_traits>

#include <ostraka/operations/normalisation/normalise.hpp>

namespace ostraka {

namespace detail {

template <class Operation, class Dim, class A, class... Mask>
using softmax_verdict = first_fault<normalised_verdict<Operation, Dim, A>, mask_verdict<Operation, A, Mask>...>;

template <class T>
struct log_of_all {
  engine::exp_sum<T> const* rows;
  KOKKOS_INLINE_FUNCTION T operator()(std::int64_t row) const { return rows[row].log_of_all(); }
};

/// The requirements that all three share, with or without a mask, and the two numbers a row that they move: a maximum
/// and a sum.
template <class Operation, class Along>
struct over_rows {
  template <class A, class... Mask>
  using verdict = softmax_verdict<Operation, Along, A, Mask...>;

  template <class A, class... Mask>
  using moves = moves_of_statistics<Along, 2, A>;
};

}  // namespace detail

namespace operation {

template <class Along>
struct softmax : detail::over_rows<softmax<Along>, Along> {
  static constexpr char const* name = "softmax";
  bool hides = false;  ///< true if a mask has written −∞ into the operand

  template <class How, class A, class... Mask>
  auto run(How const&, A const& a, Mask const&... mask) const {
    using T = accumulator_of_t<typename A::value_type>;
    engine::softmax_formula<T> const formula{hides || sizeof...(Mask) > 0};
    return detail::normalise<Along, (sizeof...(Mask) > 0)>(name, formula, a, mask...);
  }
};

template <class Along>
struct log_softmax : detail::over_rows<log_softmax<Along>, Along> {
  static constexpr char const* name = "log_softmax";

  template <class How, class A, class... Mask>
  auto run(How const&, A const& a, Mask const&... mask) const {
    using T = accumulator_of_t<typename A::value_type>;
    engine::log_softmax_formula<T> const formula{sizeof...(Mask) > 0};
    return detail::normalise<Along, (sizeof...(Mask) > 0)>(name, formula, a, mask...);
  }
};

template <class Along>
struct log_sum_exp : detail::over_rows<log_sum_exp<Along>, Along> {
  static constexpr char const* name = "log_sum_exp";

  template <class How, class A, class... Mask>
  auto run(How const&, A const& a, Mask const&... mask) const {
    using T = accumulator_of_t<typename A::value_type>;
    using labels = axes_in<A>;
    using mesh = union_of<mesh_axes_in<A>, mesh_axes_in<Mask>...>;
    using result_type =
        basic_tensor<typename A::value_type, varying_as<detail::rows_of<Along, A>, A, Mask...>, typename A::space>;
    engine::execution_context const w = detail::context_of<labels, mesh>(name, a, mask...);
    auto const result = detail::allocate_for<result_type, labels, mesh>(w, a, mask...);
    engine::finish_statistics<engine::softmax_formula<T>, detail::log_of_all<T>>(
        detail::execution_space_of<A>(), w, spec_of<A, labels, mesh>, detail::dimension_of<Along, A>,
        detail::rows_in<Along, mesh>(w, a, mask...), result.local().data());
    return result;
  }
};

}  // namespace operation

/// exp(a) / Σ exp(a) along an axis, named with the mesh axes that divide it: `os::softmax<V>(A)`,
/// `os::softmax<V/X>(A)`; with a mask, over the elements that it does not hide: `os::softmax<V>(scores, mask)`. 16-bit
/// elements are computed in float.
template <auto Along, TensorOrVariable A, TensorOrVariable... Mask>
  requires(sizeof...(Mask) < 2)
[[nodiscard]] constexpr auto softmax(A const& a, Mask const&... mask) {
  return detail::operate(operation::softmax<detail::type_of<Along>>{}, a, mask...);
}

/// log(exp(a) / Σ exp(a)) along an axis, without the underflow of the quotient.
template <auto Along, TensorOrVariable A, TensorOrVariable... Mask>
  requires(sizeof...(Mask) < 2)
[[nodiscard]] constexpr auto log_softmax(A const& a, Mask const&... mask) {
  return detail::operate(operation::log_softmax<detail::type_of<Along>>{}, a, mask...);
}

/// log Σ exp(a) along an axis, which the result lacks; −∞ for an empty sum.
template <auto Along, TensorOrVariable A, TensorOrVariable... Mask>
  requires(sizeof...(Mask) < 2)
[[nodiscard]] constexpr auto log_sum_exp(A const& a, Mask const&... mask) {
  return detail::operate(operation::log_sum_exp<detail::type_of<Along>>{}, a, mask...);
}

}  // namespace ostraka
