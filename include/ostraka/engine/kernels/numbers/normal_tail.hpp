// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The part of the normal distribution beyond a: erfc(a / √2) / 2 for a ≥ 0, of float and double, for loops
/// that vectorise, like math.hpp. The error is relative to the result, as gelu(−a) = −a · tail(a) needs it: within 4 +
/// a² units in the last place, of which a² come from rounding a² in exp(−a²/2).
///
/// (1 + a) exp(a²/2) tail(a) is smooth in 1 / (a + k). It is approximated by a polynomial in u, which maps [0,
/// farthest] to [−1, 1], interpolated in Chebyshev points with an error below a tenth of a unit.

#include <cmath>

#include <ostraka/engine/kernels/numbers/math.hpp>

namespace ostraka::engine {

namespace detail {

inline float tail_fit(float a) {
  float const u = 0x1.888888p+0f - 0x1.444444p+3f / (a + 4.0f);
  return polynomial(u, 0x1.f884dep-2f, -0x1.3afa4ep-4f, -0x1.26f828p-7f, 0x1.043dd8p-5f, -0x1.590964p-6f,
                    0x1.da82e8p-8f, -0x1.d349a6p-11f, -0x1.29f876p-12f, 0x1.a76890p-14f, 0x1.67238ep-17f,
                    -0x1.d570d4p-18f);
}
inline double tail_fit(double a) {
  double const u = 1.25 - 11.25 / (a + 5.0);
  return polynomial(u, 0x1.e361ea6fba141p-2, -0x1.647cd9d4632fdp-4, 0x1.486281b97d52dp-6, 0x1.222ef7b8265fep-6,
                    -0x1.b997b8074f3bfp-6, 0x1.4b9457cfcd77dp-6, -0x1.507a28c3fd13ep-7, 0x1.cac52bba3086fp-9,
                    -0x1.4117a5cf3abafp-11, -0x1.4a31a8c77858bp-14, 0x1.31339619850adp-14, -0x1.25451ab19a98dp-17,
                    -0x1.6b01f4f867878p-18, 0x1.b06c421ebebbfp-20, 0x1.b374036d21c93p-22, -0x1.b55265159582bp-23,
                    -0x1.474313fd7478bp-25, 0x1.9c916e27f3acfp-26, 0x1.498ca06ab2918p-28, -0x1.5fbe383ab3d27p-29,
                    -0x1.61bb8799322f1p-31, 0x1.8c9bf3f14e75fp-33, 0x1.ef977fc16da1dp-35);
}

template <class T>
inline constexpr T farthest_tail = sizeof(T) == 4 ? T(15) : T(40);  // beyond it, the tail is 0

}  // namespace detail

/// Returns the part of a normal distribution beyond a. @pre a ≥ 0, or NaN
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T normal_tail(T a) {
#if OSTRAKA_DETAIL_DEVICE_MATH
  return T(0.5) * std::erfc(T(0.70710678118654752440) * a);
#else
  constexpr T farthest = detail::farthest_tail<T>;
  T const b = detail::select(a > farthest, farthest, a);
  return detail::exp_on_host(T(-0.5) * b * b) * (detail::tail_fit(b) / (T(1) + b));
#endif
}

}  // namespace ostraka::engine
