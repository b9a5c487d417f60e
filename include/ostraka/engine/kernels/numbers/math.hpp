// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. exp, log, tanh and erf of float and double for loops: arithmetic and selections without a branch or a call,
/// so that compilers vectorise loops over them at any width. Results are within 2 units in the last place of the exact
/// value over the whole range, denormal results, infinities and NaN included, whether or not multiplications and
/// additions are fused. errno and floating-point flags are unspecified. Device code calls std::.
///
/// Polynomials are minimax fits (Remez's algorithm with 50 digits, coefficients then rounded one by one) of the
/// functions that their comments name; the error of a fit is below a tenth of a unit in the last place. Arguments are
/// reduced by Cody and Waite's method: x = k ln 2 + r, with ln 2 in two parts, the first so short that k times it is
/// exact.

#include <cmath>
#include <cstdint>
#include <limits>

#include <Kokkos_Core.hpp>

#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__) || defined(__SYCL_DEVICE_ONLY__)
#define OSTRAKA_DETAIL_DEVICE_MATH 1
#else
#define OSTRAKA_DETAIL_DEVICE_MATH 0
#endif

namespace ostraka::engine {

namespace detail {

template <class T>
struct math_constants;

template <>
struct math_constants<float> {
  using bits = std::uint32_t;
  static constexpr int fraction = 23, bias = 127;
  // Added to a number below 2^22, it leaves the nearest integer in the last bits.
  static constexpr float to_integer = 0x1.8p23f;
  static constexpr float whole = 0x1p23f;  // its last place is 1
  static constexpr float log2_e = 0x1.715476p0f, ln2_high = 0x1.62e4p-1f, ln2_low = 0x1.7f7d1cp-20f;
  static constexpr float exp_lowest = -104, exp_highest = 89;  // beyond: 0 and infinity
  static constexpr float tanh_small = 0.625f, erf_small = 0.875f, erf_highest = 4;
};

template <>
struct math_constants<double> {
  using bits = std::uint64_t;
  static constexpr int fraction = 52, bias = 1023;
  static constexpr double to_integer = 0x1.8p52;
  static constexpr double whole = 0x1p52;
  static constexpr double log2_e = 0x1.71547652b82fep0, ln2_high = 0x1.62e42feep-1, ln2_low = 0x1.a39ef35793c76p-33;
  static constexpr double exp_lowest = -746, exp_highest = 710;
  static constexpr double tanh_small = 0.625, erf_small = 0.875, erf_highest = 5.95;
};

template <class T>
typename math_constants<T>::bits bits_of(T x) {
  return __builtin_bit_cast(typename math_constants<T>::bits, x);
}

/// Selects with a mask, since compilers turn a conditional into a branch around code that only one side needs, and such
/// loops do not vectorise.
template <class T>
[[gnu::always_inline]] inline T select(bool condition, T yes, T no) {
  using bits = typename math_constants<T>::bits;
  bits const mask = bits{0} - static_cast<bits>(condition);
  return __builtin_bit_cast(T, (bits_of(yes) & mask) | (bits_of(no) & ~mask));
}

/// c0 + c1 x + c2 x² + …
template <class T>
T polynomial(T, T c) {
  return c;
}
template <class T, class... More>
T polynomial(T x, T c, More... more) {
  return c + x * polynomial(x, more...);
}

/// (exp(r) − 1 − r) / r² for |r| ≤ ln(2) / 2.
inline float exp_fit(float r) {
  return polynomial(r, 0x1p-1f, 0x1.55548ep-3f, 0x1.55545ep-5f, 0x1.123b54p-7f, 0x1.6db3fap-10f);
}
inline double exp_fit(double r) {
  return polynomial(r, 0x1.000000000000bp-1, 0x1.5555555555561p-3, 0x1.555555555003ap-5, 0x1.111111110d666p-7,
                    0x1.6c16c185a5320p-10, 0x1.a01a01bad7098p-13, 0x1.a0199698fc2e2p-16, 0x1.71dddfdfe4c16p-19,
                    0x1.28b044c7df1a2p-22, 0x1.af856e6735630p-26);
}

/// (2 atanh(s) / s − 2) / z where z = s², up to s = (√2 − 1) / (√2 + 1).
inline float log_fit(float z) { return polynomial(z, 0x1.55557ap-1f, 0x1.995eb6p-2f, 0x1.31e358p-2f); }
inline double log_fit(double z) {
  return polynomial(z, 0x1.5555555555592p-1, 0x1.999999997fd77p-2, 0x1.24924941f5051p-2, 0x1.c71c5205fd2b8p-3,
                    0x1.74663fa487d84p-3, 0x1.39a1a6b886695p-3, 0x1.2f063705faa27p-3);
}

/// (tanh(x) / x − 1) / z where z = x², up to x = tanh_small.
inline float tanh_fit(float z) {
  return polynomial(z, -0x1.555534p-2f, 0x1.110768p-3f, -0x1.b84446p-5f, 0x1.5256c6p-6f, -0x1.76abdp-8f);
}
inline double tanh_fit(double z) {
  return polynomial(z, -0x1.5555555555503p-2, 0x1.111111110b0c3p-3, -0x1.ba1ba1b530defp-5, 0x1.664f4781f0e0ap-6,
                    -0x1.226e16d975df6p-7, 0x1.d6cf3c9507e69p-9, -0x1.7d6969d8c2e69p-10, 0x1.336ae26d40415p-11,
                    -0x1.df7a6fb1cf9fbp-13, 0x1.43e14135566fcp-14, -0x1.0e3d02ed3d356p-16);
}

/// erf(x) / x − 1 where z = x², up to x = erf_small.
inline float erf_fit(float z) {
  return polynomial(z, 0x1.06eba6p-3f, -0x1.81271p-2f, 0x1.ce21d8p-4f, -0x1.b6fdfep-6f, 0x1.4a07eap-8f,
                    -0x1.463bf2p-11f);
}
inline double erf_fit(double z) {
  return polynomial(z, 0x1.06eba8214db69p-3, -0x1.812746b0379e5p-2, 0x1.ce2f21a0429c0p-4, -0x1.b82ce3127ba3ep-6,
                    0x1.565bcd0bd4591p-8, -0x1.c02db3658c951p-11, 0x1.f9a31006ea734p-14, -0x1.f4d01d63375c9p-17,
                    0x1.b9c1224841736p-20, -0x1.5dd084a9d52c6p-23, 0x1.e54e1b246446ep-27, -0x1.dc9fc42d3ea92p-31);
}

/// −log(1 − erf(x)) from erf_small to erf_highest, fitted such that erf has the same relative error everywhere.
inline float erfc_fit(float x) {
  return polynomial(x, 0x1.182c16p-13f, 0x1.20c06ap+0f, 0x1.460274p-1f, 0x1.ab531p-4f, -0x1.6f54ap-6f, 0x1.954ebap-9f,
                    -0x1.a5826ep-13f);
}
inline double erfc_fit(double x) {
  return polynomial(x, 0x1.b6103650bddd1p-25, 0x1.20dd6bde218a1p+0, 0x1.45f3604485fc7p-1, 0x1.a4ecb1c52b0dap-4,
                    -0x1.39276e465413ap-6, -0x1.ded961f32f295p-13, 0x1.c04cebbb9fac1p-10, -0x1.34fd458f26389p-11,
                    0x1.25ffac1b2fb8cp-17, 0x1.7af28cf451a5fp-14, -0x1.c3edae711d8cap-15, 0x1.49424f361dd86p-16,
                    -0x1.5c7b2da7688eap-18, 0x1.16ba5f9068ceap-20, -0x1.509f516567ce4p-23, 0x1.2afb94bef2e27p-26,
                    -0x1.71693cd10950cp-30, 0x1.1bd6675ec6767p-34, -0x1.988bee41e7403p-40);
}

/// 2^k in two factors, so that results outside the range of normal numbers are rounded once.
template <class T>
[[gnu::always_inline]] inline T exp_on_host(T x) {
  using c = math_constants<T>;
  using bits = typename c::bits;
  T const high = select(x > c::exp_highest, c::exp_highest, x);
  T const y = select(x < c::exp_lowest, c::exp_lowest, high);
  T const shifted = y * c::log2_e + c::to_integer;
  T const k = shifted - c::to_integer;
  T const r = (y - k * c::ln2_high) - k * c::ln2_low;
  T const e = T(1) + (r + r * r * exp_fit(r));
  bits const both = bits_of(shifted) - bits_of(c::to_integer) + 2 * bits{c::bias};  // never negative
  bits const one = both >> 1;
  return e * __builtin_bit_cast(T, one << c::fraction) * __builtin_bit_cast(T, (both - one) << c::fraction);
}

/// x = 2^k (1 + f) with 1 + f between √½ and √2; log(1 + f) = f − f²/2 + s (f²/2 + z fit(z)), s = f / (2 + f), z = s².
template <class T>
[[gnu::always_inline]] inline T log_on_host(T x) {
  using c = math_constants<T>;
  using bits = typename c::bits;
  using limits = std::numeric_limits<T>;
  bits const root = bits_of(T(0.70710678118654752440)), from_root = bits_of(T(1)) - root;
  bool const tiny = x < limits::min();
  bits const pattern = bits_of(select(tiny, x * c::whole, x)) + from_root;
  bits const fraction = (bits{1} << c::fraction) - 1;
  T const f = __builtin_bit_cast(T, (pattern & fraction) + root) - T(1);
  T const k = __builtin_bit_cast(T, (pattern >> c::fraction) | bits_of(c::whole)) -
              select(tiny, c::whole + T(c::bias + c::fraction), c::whole + T(c::bias));
  T const s = f / (T(2) + f), z = s * s, half = T(0.5) * f * f;
  T const near = s * (half + z * log_fit(z)) + k * c::ln2_low;
  T const result = k * c::ln2_high - ((half - near) - f);
  T const finite = select(x > limits::max(), x, result);
  T const positive = select(x == T(0), -limits::infinity(), finite);
  return select(x >= T(0), positive, limits::quiet_NaN());
}

/// x + x z fit(z) near 0, 1 − 2 / (exp(2 |x|) + 1) elsewhere, which is at least a half.
template <class T>
[[gnu::always_inline]] inline T tanh_on_host(T x) {
  T const a = std::abs(x), z = x * x;
  T const far = T(1) - T(2) / (exp_on_host(T(2) * a) + T(1));
  T const near = a + a * (z * tanh_fit(z));
  return std::copysign(select(a > math_constants<T>::tanh_small, far, near), x);
}

/// x + x fit(x²) near 0, 1 − exp(−fit(|x|)) elsewhere.
template <class T>
[[gnu::always_inline]] inline T erf_on_host(T x) {
  using c = math_constants<T>;
  T const a = std::abs(x), b = select(a > c::erf_highest, c::erf_highest, a);
  T const far = T(1) - exp_on_host(-erfc_fit(b));
  T const near = b + b * erf_fit(b * b);
  return std::copysign(select(b > c::erf_small, far, near), x);
}

}  // namespace detail

/// eˣ of a float or double.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T exp(T x) {
#if OSTRAKA_DETAIL_DEVICE_MATH
  return std::exp(x);
#else
  return detail::exp_on_host(x);
#endif
}

/// The natural logarithm; −∞ of 0, NaN of negative numbers.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T log(T x) {
#if OSTRAKA_DETAIL_DEVICE_MATH
  return std::log(x);
#else
  return detail::log_on_host(x);
#endif
}

template <class T>
KOKKOS_FORCEINLINE_FUNCTION T tanh(T x) {
#if OSTRAKA_DETAIL_DEVICE_MATH
  return std::tanh(x);
#else
  return detail::tanh_on_host(x);
#endif
}

/// 2 / √π times the integral of exp(−t²) from 0 to x.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T erf(T x) {
#if OSTRAKA_DETAIL_DEVICE_MATH
  return std::erf(x);
#else
  return detail::erf_on_host(x);
#endif
}

}  // namespace ostraka::engine
