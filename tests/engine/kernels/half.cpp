// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Every pattern of float16 and bfloat16 against its definition in doubles, and the rounding at and beside every
/// midpoint of two numbers.
// ranks: 1
// labels: essential
// sham:

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include <ostraka/engine/kernels/combine.hpp>
#include <ostraka/engine/kernels/numbers/philox.hpp>
#include <ostraka/types/values/half.hpp>

namespace os = ostraka;

namespace {

// (-1)^s 2^(e - bias) 1.f, or with e = 0, (-1)^s 2^(1 - bias) 0.f: IEEE 754-2019, section 3.4.
double by_definition(int pattern, int exponent_bits, int fraction_bits) {
  int const sign = pattern >> 15;
  int const e = pattern >> fraction_bits & ((1 << exponent_bits) - 1);
  double const f = std::ldexp(pattern & ((1 << fraction_bits) - 1), -fraction_bits);
  int const bias = (1 << (exponent_bits - 1)) - 1;
  double value = e == 0 ? std::ldexp(f, 1 - bias) : std::ldexp(1 + f, e - bias);
  if (e == (1 << exponent_bits) - 1)
    value = f == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  return sign ? -value : value;
}

bool same(double a, double b) { return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b); }

// The number of patterns that are wrong in some way.
template <class T>
int wrong_patterns(int exponent_bits, int fraction_bits) {
  int wrong = 0;
  for (int pattern = 0; pattern < 65536; ++pattern) {
    T const x = T::from_bits(static_cast<std::uint16_t>(pattern));
    double const value = by_definition(pattern, exponent_bits, fraction_bits);
    if (!same(static_cast<double>(float(x)), value)) ++wrong;
    if (std::isnan(value)) {
      if (!std::isnan(float(T(float(x)))) || !std::isnan(float(T(value)))) ++wrong;
    } else if (T(float(x)).bits() != pattern || T(value).bits() != pattern || (-x).bits() != (pattern ^ 0x8000)) {
      ++wrong;
    }
  }
  return wrong;
}

// Between each number and the next larger one: nearer to one, nearer to the other, neither.
template <class T>
int wrong_roundings(int exponent_bits, int fraction_bits) {
  int wrong = 0;
  int const infinity = ((1 << exponent_bits) - 1) << fraction_bits;
  double const beyond = std::ldexp(1.0, 1 << (exponent_bits - 1));  // infinity's value, if it were a number
  for (int low = 0; low < infinity; ++low) {
    int const high = low + 1;
    int const even = low % 2 == 0 ? low : high;
    double const middle = (by_definition(low, exponent_bits, fraction_bits) +
                           (high == infinity ? beyond : by_definition(high, exponent_bits, fraction_bits))) /
                          2;
    float const near = static_cast<float>(middle);
    auto const check = [&](auto x, int expected) {
      wrong += T(x).bits() != expected;
      wrong += T(-x).bits() != (expected | 0x8000);
    };
    check(middle, even);
    check(std::nextafter(middle, 0.0), low);
    check(std::nextafter(middle, 1e300), high);
    if (static_cast<double>(near) != middle) continue;  // below the floats
    check(near, even);
    check(std::nextafter(near, 0.0f), low);
    check(std::nextafter(near, std::numeric_limits<float>::infinity()), high);
  }
  return wrong;
}

}  // namespace

TEST_CASE("each of the 65536 patterns is the number that it is defined to be, and comes back") {
  CHECK(wrong_patterns<os::float16>(5, 10) == 0);
  CHECK(wrong_patterns<os::bfloat16>(8, 7) == 0);
}

TEST_CASE("rounding is to the nearest, of two as near to the even one, from floats and from doubles") {
  CHECK(wrong_roundings<os::float16>(5, 10) == 0);
  CHECK(wrong_roundings<os::bfloat16>(8, 7) == 0);
  CHECK(os::float16(1e300).bits() == 0x7C00);
  CHECK(os::bfloat16(-std::numeric_limits<double>::infinity()).bits() == 0xFF80);
}

TEST_CASE("sums, differences, products and quotients are the nearest numbers") {
  int wrong = 0;
  for (int i = 1; i < 65536; i += 127)
    for (int j = 3; j < 65536; j += 131) {
      auto const x = os::float16::from_bits(static_cast<std::uint16_t>(i));
      auto const y = os::float16::from_bits(static_cast<std::uint16_t>(j));
      double const a = by_definition(i, 5, 10);
      double const b = by_definition(j, 5, 10);
      wrong +=
          !same(double(float(x + y)), double(float(os::float16(a + b))));  // exact as doubles, except the quotient
      wrong += !same(double(float(x - y)), double(float(os::float16(a - b))));
      wrong += !same(double(float(x * y)), double(float(os::float16(a * b))));
      wrong += !same(double(float(x / y)), double(float(os::float16(a / b))));
      wrong += (x < y) != (a < b) || (x == y) != (a == b) || (x >= y) != (a >= b);
    }
  CHECK(wrong == 0);
}

TEST_CASE("the maximum keeps a NaN, and over nothing it is minus infinity") {
  using limits = std::numeric_limits<os::bfloat16>;
  CHECK(os::engine::identity<os::bfloat16>(os::reduction::max) == -limits::infinity());
  os::bfloat16 const one(1);
  CHECK(std::isnan(float(os::engine::combine(os::reduction::max, one, limits::quiet_NaN()))));
  CHECK(std::isnan(float(os::engine::combine(os::reduction::max, limits::quiet_NaN(), one))));
  CHECK(os::engine::combine(os::reduction::min, one, -one) == -one);
}

TEST_CASE("random numbers are below 1, and fill what is below it") {
  float largest = 0;
  double sum = 0;
  for (std::uint64_t i = 0; i < 20000; ++i) {
    float const x = os::engine::random_value<os::bfloat16>(7, i);
    CHECK_MESSAGE((x >= 0 && x < 1), x);
    largest = std::max(largest, x);
    sum += double(float(os::engine::random_value<os::float16>(7, i)));
  }
  CHECK(largest == 1 - 0x1p-8f);
  CHECK(std::abs(sum / 20000 - 0.5) < 0.01);  // four deviations
}
