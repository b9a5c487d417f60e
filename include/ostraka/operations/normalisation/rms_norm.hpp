// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::rms_norm<D>(x, gain)`: x divided by the root of the mean of its squares along D, times a gain along D.
/// If D is divided, one number a row moves.
///
///     rms_norm<D>      [B_X, S, D]      → [B_X, S, D]      nothing moved
///     rms_norm<D/Y>    [B_X, S, D_Y]    → [B_X, S, D_Y]    all-reduce over Y of [B_X, S]

#include <ostraka/operations/normalisation/normalise.hpp>

namespace ostraka {

/// An option of os::rms_norm and os::layer_norm: the number added to a mean of squares before its root is taken,
/// os::epsilon(1e-5).
struct epsilon {
  constexpr explicit epsilon(double e) : value(e) {}
  double value;
};

namespace operation {

template <class Along>
struct rms_norm {
  using has_residuals = void;  ///< the mean and factor of each row
  static constexpr char const* name = "rms_norm";

  double epsilon = 1e-6;

  template <class A, class... Gain>
  using verdict = detail::first_fault<detail::normalised_verdict<rms_norm, Along, A>,
                                      detail::vector_verdict<rms_norm, Along, A, Gain>...>;

  template <class A, class... Gain>
  using moves = detail::moves_of_statistics<Along, 1, A>;

  template <class How, class A, class... Gain>
  auto run(How const&, A const& a, Gain const&... gain) const {
    using T = accumulator_of_t<typename A::value_type>;
    return detail::normed<How, Along>(name, engine::rms_norm_formula<T>{static_cast<T>(epsilon)}, a, gain...);
  }
};

}  // namespace operation

/// x / √(Σx² / n + ε) along an axis, named with the mesh axes that divide it; ε = 10⁻⁶ by default. 16-bit elements are
/// computed in float.
template <auto Along, TensorOrVariable A>
[[nodiscard]] constexpr auto rms_norm(A const& x, epsilon const& e = epsilon(1e-6)) {
  return detail::operate(operation::rms_norm<detail::type_of<Along>>{e.value}, x);
}

/// The same times a gain, a tensor with only that axis: `os::rms_norm<D/Y>(x, gain, os::epsilon(1e-5))`.
template <auto Along, TensorOrVariable A, TensorOrVariable Gain>
[[nodiscard]] constexpr auto rms_norm(A const& x, Gain const& gain, epsilon const& e = epsilon(1e-6)) {
  return detail::operate(operation::rms_norm<detail::type_of<Along>>{e.value}, x, gain);
}

}  // namespace ostraka
