// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 1. Floating-point numbers of 16 bits, `os::float16` (IEEE 754 binary16) and `os::bfloat16` (the upper half of
/// a float). They take two bytes in memory, in messages and in files on every machine. Arithmetic is done in float
/// (docs/design/half-types.md).

#include <concepts>
#include <cstdint>
#include <limits>

#if defined(__CUDACC__) || defined(__HIPCC__)
#  define OSTRAKA_FUNCTION __host__ __device__
#else
#  define OSTRAKA_FUNCTION
#endif

namespace ostraka {

namespace detail {

/// The patterns of numbers with one sign bit, `Exponent` bits of exponent and `Fraction` bits of fraction.
template <int Exponent, int Fraction>
struct narrow_format {
  static constexpr int shift = 23 - Fraction;  // bits of a float's fraction that do not fit
  static constexpr int bias = (1 << (Exponent - 1)) - 1;
  static constexpr std::uint32_t rebias = static_cast<std::uint32_t>(127 - bias) << 23;
  static constexpr std::uint32_t infinity = ((1u << Exponent) - 1) << Fraction;
  static constexpr std::uint32_t first_normal = static_cast<std::uint32_t>(128 - bias) << 23;  // as a float

  /// The pattern of the nearest number; ties go to the even one, and NaN stays NaN. It uses selects instead of
  /// branches, so that loops vectorise.
  OSTRAKA_FUNCTION static constexpr std::uint16_t narrow(float x) {
    std::uint32_t const bits = __builtin_bit_cast(std::uint32_t, x);
    std::uint32_t const magnitude = bits & 0x7FFFFFFFu;
    if constexpr (rebias == 0) {  // the sign bit does not move, and a carry out of the largest number results in
                                  // infinity
      std::uint32_t const near = (bits + (1u << (shift - 1)) - 1 + (bits >> shift & 1u)) >> shift;
      return static_cast<std::uint16_t>(magnitude > 0x7F800000u ? bits >> shift | 1u << (Fraction - 1) : near);
    } else {
      std::uint32_t const sign = bits >> 31 << 15;
      // Half of the dropped part, minus one if the last kept bit is 0. A carry out of the fraction correctly increments
      // the exponent.
      std::uint32_t const half = (1u << (shift - 1)) - 1 + (magnitude >> shift & 1u);
      std::uint32_t const normal = (magnitude - rebias + half) >> shift;
      std::uint32_t const nan = infinity | 1u << (Fraction - 1) | (magnitude & 0x7FFFFFu) >> shift;
      std::uint32_t result = normal < infinity ? normal : infinity;
      // Below the normal numbers: adding x to the float whose last place is the smallest number rounds x to a multiple
      // of that number.
      constexpr std::uint32_t ruler = static_cast<std::uint32_t>(127 + 1 - bias - Fraction + 23) << 23;
      float const marked =
          __builtin_bit_cast(float, magnitude < first_normal ? magnitude : 0) + __builtin_bit_cast(float, ruler);
      std::uint32_t const small = __builtin_bit_cast(std::uint32_t, marked) - ruler;
      result = magnitude < first_normal ? small : result;
      return static_cast<std::uint16_t>(sign | (magnitude > 0x7F800000u ? nan : result));
    }
  }

  /// The same, rounded once: x is first rounded to the odd one of its two neighbouring floats, which is never a tie.
  OSTRAKA_FUNCTION static constexpr std::uint16_t narrow(double x) {
    float const near = static_cast<float>(x);
    double const back = static_cast<double>(near);
    std::uint32_t bits = __builtin_bit_cast(std::uint32_t, near);
    if (x != x || back == x || (bits & 1u) != 0) return narrow(near);
    bool const too_far = x < 0 ? back < x : back > x;
    bits = too_far ? bits - 1 : bits + 1;
    return narrow(__builtin_bit_cast(float, bits));
  }

  /// The number as a float, exactly: every number of this format is a float.
  OSTRAKA_FUNCTION static constexpr float widen(std::uint16_t pattern) {
    if constexpr (rebias == 0) return __builtin_bit_cast(float, static_cast<std::uint32_t>(pattern) << shift);
    std::uint32_t const sign = static_cast<std::uint32_t>(pattern >> 15) << 31;
    std::uint32_t const magnitude = pattern & 0x7FFFu;
    std::uint32_t const shifted = magnitude << shift;
    float const step =
        __builtin_bit_cast(float, static_cast<std::uint32_t>(127 + 1 - bias - Fraction) << 23);  // the smallest number
    float const small = static_cast<float>(static_cast<std::int32_t>(magnitude)) * step;
    std::uint32_t const normal = magnitude >= infinity ? 0x7F800000u | shifted : shifted + rebias;
    // Uses a mask, because compilers turn a choice into a branch around the product, which prevents vectorisation.
    std::uint32_t const is_normal = 0u - static_cast<std::uint32_t>(magnitude >= 1u << Fraction);
    return __builtin_bit_cast(float,
                              sign | (normal & is_normal) | (__builtin_bit_cast(std::uint32_t, small) & ~is_normal));
  }
};

}  // namespace detail

/// A floating-point number of 16 bits. It converts to float implicitly, and from other numbers only explicitly:
/// `os::float16(x)` rounds to the nearest number, ties to even. An operation on two of them is done in float and
/// rounded once, so its result is also the nearest number.
template <int Exponent, int Fraction>
class narrow_float {
  using format = detail::narrow_format<Exponent, Fraction>;
  static_assert(1 + Exponent + Fraction == 16);

 public:
  narrow_float() = default;
  OSTRAKA_FUNCTION explicit constexpr narrow_float(float x) : bits_(format::narrow(x)) {}
  OSTRAKA_FUNCTION explicit constexpr narrow_float(double x) : bits_(format::narrow(x)) {}
  /// Integers beyond 2^53 are rounded to a double first.
  template <std::integral Integer>
  OSTRAKA_FUNCTION explicit constexpr narrow_float(Integer n) : narrow_float(static_cast<double>(n)) {}

  OSTRAKA_FUNCTION constexpr operator float() const { return format::widen(bits_); }

  [[nodiscard]] OSTRAKA_FUNCTION static constexpr narrow_float from_bits(std::uint16_t pattern) {
    narrow_float x{};
    x.bits_ = pattern;
    return x;
  }
  [[nodiscard]] OSTRAKA_FUNCTION constexpr std::uint16_t bits() const { return bits_; }

  OSTRAKA_FUNCTION friend constexpr narrow_float operator-(narrow_float a) {
    return from_bits(static_cast<std::uint16_t>(a.bits_ ^ 0x8000u));
  }
  OSTRAKA_FUNCTION friend constexpr narrow_float operator+(narrow_float a, narrow_float b) {
    return narrow_float(float(a) + float(b));
  }
  OSTRAKA_FUNCTION friend constexpr narrow_float operator-(narrow_float a, narrow_float b) {
    return narrow_float(float(a) - float(b));
  }
  OSTRAKA_FUNCTION friend constexpr narrow_float operator*(narrow_float a, narrow_float b) {
    return narrow_float(float(a) * float(b));
  }
  OSTRAKA_FUNCTION friend constexpr narrow_float operator/(narrow_float a, narrow_float b) {
    return narrow_float(float(a) / float(b));
  }
  OSTRAKA_FUNCTION constexpr narrow_float& operator+=(narrow_float b) { return *this = *this + b; }
  OSTRAKA_FUNCTION constexpr narrow_float& operator-=(narrow_float b) { return *this = *this - b; }
  OSTRAKA_FUNCTION constexpr narrow_float& operator*=(narrow_float b) { return *this = *this * b; }
  OSTRAKA_FUNCTION constexpr narrow_float& operator/=(narrow_float b) { return *this = *this / b; }

 private:
  std::uint16_t bits_;
};

/// IEEE 754 binary16: 11 bits of precision, up to 65504.
using float16 = narrow_float<5, 10>;

/// The upper half of a float: 8 bits of precision, a float's range.
using bfloat16 = narrow_float<8, 7>;

static_assert(sizeof(float16) == 2 && sizeof(bfloat16) == 2);

/// True if T is a floating-point number of 16 bits.
template <class T>
inline constexpr bool is_narrow = false;
template <int Exponent, int Fraction>
inline constexpr bool is_narrow<narrow_float<Exponent, Fraction>> = true;

/// The type in which sums of T are kept until they are complete: float for 16 bits, else T.
template <class T>
struct accumulator_of {
  using type = T;
};
template <int Exponent, int Fraction>
struct accumulator_of<narrow_float<Exponent, Fraction>> {
  using type = float;
};
/// The type itself.
template <class T>
using accumulator_of_t = typename accumulator_of<T>::type;

}  // namespace ostraka

template <int Exponent, int Fraction>
struct std::numeric_limits<ostraka::narrow_float<Exponent, Fraction>> {
 private:
  using number = ostraka::narrow_float<Exponent, Fraction>;
  using format = ostraka::detail::narrow_format<Exponent, Fraction>;
  OSTRAKA_FUNCTION static constexpr number of(std::uint32_t pattern) noexcept {
    return number::from_bits(static_cast<std::uint16_t>(pattern));
  }

 public:
  static constexpr bool is_specialized = true, is_signed = true, is_integer = false, is_exact = false, is_iec559 = true,
                        is_bounded = true, is_modulo = false;
  static constexpr bool has_infinity = true, has_quiet_NaN = true, has_signaling_NaN = true;
  static constexpr int radix = 2, digits = Fraction + 1;
  static constexpr int digits10 = Fraction * 30103 / 100000, max_digits10 = 2 + digits * 30103 / 100000;
  static constexpr int max_exponent = format::bias + 1, min_exponent = 2 - format::bias;
  static constexpr int max_exponent10 = format::bias * 30103 / 100000,
                       min_exponent10 = -((format::bias - 1) * 30103 / 100000);
  static constexpr float_round_style round_style = round_to_nearest;
  static constexpr bool traps = false, tinyness_before = false;

  OSTRAKA_FUNCTION static constexpr number min() noexcept { return of(1u << Fraction); }
  OSTRAKA_FUNCTION static constexpr number max() noexcept { return of(format::infinity - 1); }
  OSTRAKA_FUNCTION static constexpr number lowest() noexcept { return of(0x8000u | (format::infinity - 1)); }
  OSTRAKA_FUNCTION static constexpr number epsilon() noexcept {
    return of(static_cast<std::uint32_t>(format::bias - Fraction) << Fraction);
  }
  OSTRAKA_FUNCTION static constexpr number round_error() noexcept {
    return of(static_cast<std::uint32_t>(format::bias - 1) << Fraction);
  }
  OSTRAKA_FUNCTION static constexpr number infinity() noexcept { return of(format::infinity); }
  OSTRAKA_FUNCTION static constexpr number quiet_NaN() noexcept { return of(format::infinity | 1u << (Fraction - 1)); }
  OSTRAKA_FUNCTION static constexpr number signaling_NaN() noexcept { return of(format::infinity | 1u); }
  OSTRAKA_FUNCTION static constexpr number denorm_min() noexcept { return of(1u); }
};
