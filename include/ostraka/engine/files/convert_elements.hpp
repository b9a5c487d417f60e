// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Converts floating-point numbers of a file, of 8 to 64 bits, to the element types of tensors. A number that
/// the new type can represent keeps its value and its sign, and NaN stays NaN. Any other number is rounded to the
/// nearest, ties to even.
///
///     F8_E5M2    the upper half of an F16
///     F8_E4M3    1 sign bit, 4 exponent bits with bias 7, 3 fraction bits; no infinity; NaN if all 7 bits are set

#include <cstdint>
#include <cstring>
#include <limits>

#include <ostraka/engine/formats/file_element.hpp>
#include <ostraka/types/values/half.hpp>

namespace ostraka::engine {

namespace detail {

[[nodiscard]] inline float widen_e5m2(std::uint8_t pattern) {
  return float16::from_bits(static_cast<std::uint16_t>(pattern << 8));
}

// Reads the bits as an F16, whose exponent bias is larger by 8.
[[nodiscard]] inline float widen_e4m3(std::uint8_t pattern) {
  unsigned const magnitude = pattern & 0x7Fu, sign = pattern & 0x80u;
  float const found = magnitude == 0x7F
                          ? std::numeric_limits<float>::quiet_NaN()
                          : 256.0f * float(float16::from_bits(static_cast<std::uint16_t>(magnitude << 7)));
  return sign != 0 ? -found : found;
}

template <class T>
[[nodiscard]] T element_at(char const* from, std::int64_t i) {
  T x;
  std::memcpy(&x, from + i * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
  return x;
}

template <class To, class Read>
void convert_each(char* to, Read const& read, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    To const x = static_cast<To>(read(i));
    std::memcpy(to + i * static_cast<std::int64_t>(sizeof(To)), &x, sizeof(To));
  }
}

template <class Read>
void convert_to(file_element become, char* to, Read const& read, std::int64_t count) {
  switch (become) {
    case file_element::f64:
      return convert_each<double>(to, read, count);
    case file_element::f16:
      return convert_each<float16>(to, read, count);
    case file_element::bf16:
      return convert_each<bfloat16>(to, read, count);
    default:
      return convert_each<float>(to, read, count);
  }
}

}  // namespace detail

/// to <- the elements of `from`. The two must not overlap. @pre converts(are, become)
inline void convert_elements(file_element are, char const* from, file_element become, char* to, std::int64_t count) {
  switch (are) {
    case file_element::f64:
      return detail::convert_to(
          become, to, [=](std::int64_t i) { return detail::element_at<double>(from, i); }, count);
    case file_element::f16:
      return detail::convert_to(
          become, to, [=](std::int64_t i) { return float(detail::element_at<float16>(from, i)); }, count);
    case file_element::bf16:
      return detail::convert_to(
          become, to, [=](std::int64_t i) { return float(detail::element_at<bfloat16>(from, i)); }, count);
    case file_element::f8_e4m3:
      return detail::convert_to(
          become, to, [=](std::int64_t i) { return detail::widen_e4m3(detail::element_at<std::uint8_t>(from, i)); },
          count);
    case file_element::f8_e5m2:
      return detail::convert_to(
          become, to, [=](std::int64_t i) { return detail::widen_e5m2(detail::element_at<std::uint8_t>(from, i)); },
          count);
    default:
      return detail::convert_to(
          become, to, [=](std::int64_t i) { return detail::element_at<float>(from, i); }, count);
  }
}

}  // namespace ostraka::engine
