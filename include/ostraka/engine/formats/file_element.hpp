// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The names of element types in files: float is F32 in a safetensors header and '<f4' in an .npy header. The
/// list includes types that tensors cannot have, because a file may hold them beside the requested tensors.

#include <array>
#include <cstdint>
#include <string_view>

namespace ostraka::engine {

/// Tensors can have the element types before `u8`.
enum class file_element : std::uint8_t {
  f64,
  f32,
  f16,
  bf16,
  i64,
  i32,
  i16,
  i8,
  boolean,
  c64,
  c128,
  u8,
  u16,
  u32,
  u64,
  f8_e4m3,
  f8_e4m3fnuz,
  f8_e5m2,
  f8_e5m2fnuz,
  f8_e8m0,
  f6_e2m3,
  f6_e3m2,
  f4
};

struct file_element_names {
  std::string_view dtype;  ///< in safetensors; empty if the format lacks the type
  std::string_view descr;  ///< in .npy, after the byte order; empty if it lacks the type
  int bits;
  int number_bytes;  ///< bytes of one number, which have an order
};

/// In the order of the enumerators. NumPy has no bfloat16: with ml_dtypes it writes two bytes without a meaning, V2.
inline constexpr std::array<file_element_names, 23> file_elements = {
    {{"F64", "f8", 64, 8},      {"F32", "f4", 32, 4},  {"F16", "f2", 16, 2},      {"BF16", "V2", 16, 2},
     {"I64", "i8", 64, 8},      {"I32", "i4", 32, 4},  {"I16", "i2", 16, 2},      {"I8", "i1", 8, 1},
     {"BOOL", "b1", 8, 1},      {"C64", "c8", 64, 4},  {"", "c16", 128, 8},       {"U8", "u1", 8, 1},
     {"U16", "u2", 16, 2},      {"U32", "u4", 32, 4},  {"U64", "u8", 64, 8},      {"F8_E4M3", "", 8, 1},
     {"F8_E4M3FNUZ", "", 8, 1}, {"F8_E5M2", "", 8, 1}, {"F8_E5M2FNUZ", "", 8, 1}, {"F8_E8M0", "", 8, 1},
     {"F6_E2M3", "", 6, 1},     {"F6_E3M2", "", 6, 1}, {"F4", "", 4, 1}}};

[[nodiscard]] constexpr file_element_names const& names_of(file_element e) {
  return file_elements[static_cast<std::size_t>(e)];
}

[[nodiscard]] constexpr int bytes_of(file_element e) { return names_of(e).bits / 8; }

/// Finds the type with this text as its `name` in the table. @returns false if there is none
[[nodiscard]] constexpr bool find_element(std::string_view text, std::string_view file_element_names::*name,
                                          file_element& found) {
  for (std::size_t i = 0; i < file_elements.size(); ++i)
    if (!text.empty() && file_elements[i].*name == text) {
      found = static_cast<file_element>(i);
      return true;
    }
  return false;
}

/// True if elements of a file can be converted to this element type of a tensor.
[[nodiscard]] constexpr bool converts(file_element from, file_element to) {
  auto const in_tensors = [](file_element e) {
    return e == file_element::f64 || e == file_element::f32 || e == file_element::f16 || e == file_element::bf16;
  };
  return in_tensors(to) && (in_tensors(from) || from == file_element::f8_e4m3 || from == file_element::f8_e5m2);
}

}  // namespace ostraka::engine
