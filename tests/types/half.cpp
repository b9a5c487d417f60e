// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Numbers of 16 bits while compiling: their properties, their conversions, their rounding.
/// tests/engine/kernels/half.cpp has every pattern.

#include <limits>
#include <type_traits>

#include <ostraka/types/values/half.hpp>

namespace os = ostraka;

static_assert(sizeof(os::float16) == 2 && alignof(os::bfloat16) == 2);
static_assert(std::is_trivially_copyable_v<os::float16> && std::is_trivially_default_constructible_v<os::bfloat16>);
static_assert(std::is_convertible_v<os::float16, float> && !std::is_convertible_v<float, os::float16>);
static_assert(!std::is_convertible_v<os::float16, os::bfloat16> && std::is_constructible_v<os::bfloat16, os::float16>);
static_assert(!std::is_convertible_v<int, os::float16>);

static_assert(os::float16(1).bits() == 0x3C00 && os::bfloat16(1).bits() == 0x3F80);
static_assert(os::float16(65504.0f).bits() == 0x7BFF && os::float16(65519.996f).bits() == 0x7BFF &&
              os::float16(65520.0f).bits() == 0x7C00);
static_assert(os::float16(0x1p-25).bits() == 0 && os::float16(0x1.000002p-25f).bits() == 1 &&
              os::float16(-0x1p-24).bits() == 0x8001);
static_assert(os::float16(0x1.ffcp-15 + 0x1p-26).bits() ==
              0x0400);  // the largest below the normal numbers, rounded up into them
static_assert(os::bfloat16(0x1.01p0f).bits() == 0x3F80 && os::bfloat16(0x1.03p0f).bits() == 0x3F82);  // ties to even
static_assert(os::float16(1.0 + 0x1p-11 + 0x1p-40).bits() == 0x3C01);  // as a float it would be a tie
static_assert(os::float16(1.0 + 0x1p-10 + 0x1p-11 - 0x1p-40).bits() == 0x3C01);
static_assert(os::bfloat16(1e39).bits() == 0x7F80 && os::bfloat16(-1e300).bits() == 0xFF80 &&
              os::bfloat16(1e-300).bits() == 0);
static_assert(os::float16(std::numeric_limits<float>::quiet_NaN()).bits() == 0x7E00 &&
              os::bfloat16(std::numeric_limits<double>::quiet_NaN()).bits() == 0x7FC0);
static_assert(os::float16(70000).bits() == 0x7C00 && static_cast<int>(os::float16(-3)) == -3);

constexpr os::float16 two(2), three(3);
static_assert(two + three == os::float16(5) && two - three == os::float16(-1) && two * three == os::float16(6) &&
              two < three && -two < two);
static_assert(two / three == os::float16(2.0 / 3.0) && three != two && two * 1.5f == 3.0f);
static_assert(std::is_same_v<decltype(two + three), os::float16> && std::is_same_v<decltype(two * 1.5f), float> &&
              std::is_same_v<decltype(two * 2), float>);
static_assert([] {
  os::bfloat16 x(1);
  x += os::bfloat16(2);
  x *= os::bfloat16(4);
  x -= os::bfloat16(2);
  x /= os::bfloat16(5);
  return x == os::bfloat16(2);
}());

using half = std::numeric_limits<os::float16>;
using brain = std::numeric_limits<os::bfloat16>;
static_assert(half::max() == 65504.0f && half::min() == 0x1p-14f && half::denorm_min() == 0x1p-24f &&
              half::epsilon() == 0x1p-10f && half::lowest() == -65504.0f);
static_assert(half::round_error() == 0.5f && half::infinity() > half::max() && half::quiet_NaN() != half::quiet_NaN());
static_assert(half::digits == 11 && half::digits10 == 3 && half::max_digits10 == 5 && half::max_exponent == 16 &&
              half::min_exponent == -13);
static_assert(half::max_exponent10 == 4 && half::min_exponent10 == -4);
static_assert(brain::max() == 0x1.fep127f && brain::min() == 0x1p-126f && brain::epsilon() == 0x1p-7f &&
              brain::digits == 8);
static_assert(brain::digits10 == 2 && brain::max_digits10 == 4 && brain::max_exponent == 128 &&
              brain::min_exponent == -125);
static_assert(brain::max_exponent10 == 38 && brain::min_exponent10 == -37);

static_assert(std::is_same_v<os::accumulator_of_t<os::float16>, float> &&
              std::is_same_v<os::accumulator_of_t<double>, double>);
static_assert(os::is_narrow<os::bfloat16> && !os::is_narrow<float>);
