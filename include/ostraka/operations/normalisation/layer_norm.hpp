// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::layer_norm<D>(x, gain, bias)`: x minus its mean along D, divided by its standard deviation, times a
/// gain and plus a bias along D. If D is divided, mean and squared deviations move, in one message. They are merged so
/// that the variance is accurate even if the mean is large compared with the deviations.
///
///     layer_norm<D>      [B_X, S, D]      → [B_X, S, D]      nothing moved
///     layer_norm<D/Y>    [B_X, S, D_Y]    → [B_X, S, D_Y]    all-reduce over Y of [B_X, S], two numbers each

#include <ostraka/operations/normalisation/rms_norm.hpp>

namespace ostraka {

namespace operation {

template <class Along>
struct layer_norm {
  using has_residuals = void;  ///< the mean and factor of each row
  static constexpr char const* name = "layer_norm";

  double epsilon = 1e-5;

  template <class A, class... Vectors>
  using verdict = detail::first_fault<detail::normalised_verdict<layer_norm, Along, A>,
                                      detail::vector_verdict<layer_norm, Along, A, Vectors>...>;

  template <class A, class... Vectors>
  using moves = detail::moves_of_statistics<Along, 2, A>;

  template <class How, class A, class... Vectors>
  auto run(How const&, A const& a, Vectors const&... vectors) const {
    using T = accumulator_of_t<typename A::value_type>;
    return detail::normed<How, Along>(name, engine::layer_norm_formula<T>{static_cast<T>(epsilon)}, a, vectors...);
  }
};

}  // namespace operation

/// (x − μ) / √(Σ(x − μ)² / n + ε) along an axis, named with the mesh axes that divide it. μ is the mean; ε = 10⁻⁵ by
/// default. 16-bit elements are computed in float.
template <auto Along, TensorOrVariable A>
[[nodiscard]] constexpr auto layer_norm(A const& x, epsilon const& e = epsilon(1e-5)) {
  return detail::operate(operation::layer_norm<detail::type_of<Along>>{e.value}, x);
}

/// The same times a gain, a tensor with only that axis.
template <auto Along, TensorOrVariable A, TensorOrVariable Gain>
[[nodiscard]] constexpr auto layer_norm(A const& x, Gain const& gain, epsilon const& e = epsilon(1e-5)) {
  return detail::operate(operation::layer_norm<detail::type_of<Along>>{e.value}, x, gain);
}

/// The same plus a bias: `os::layer_norm<D/Y>(x, gain, bias)`.
template <auto Along, TensorOrVariable A, TensorOrVariable Gain, TensorOrVariable Bias>
[[nodiscard]] constexpr auto layer_norm(A const& x, Gain const& gain, Bias const& bias,
                                        epsilon const& e = epsilon(1e-5)) {
  return detail::operate(operation::layer_norm<detail::type_of<Along>>{e.value}, x, gain, bias);
}

}  // namespace ostraka
