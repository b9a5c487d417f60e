// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// A picture as a PNG, not compressed: the stored blocks of deflate (RFC 1951, 3.2.4) in zlib's frame (RFC 1950) in
/// PNG's chunks.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace png {

struct colour {
  std::uint8_t red, green, blue;
};

inline std::string big_endian(std::uint32_t n) {
  return {static_cast<char>(n >> 24), static_cast<char>(n >> 16), static_cast<char>(n >> 8), static_cast<char>(n)};
}

inline std::uint32_t crc(std::string_view bytes) {
  std::uint32_t c = ~0u;
  for (char b : bytes) {
    c ^= static_cast<std::uint8_t>(b);
    for (int k = 0; k < 8; ++k) c = (c & 1u) != 0 ? 0xedb88320u ^ c >> 1 : c >> 1;
  }
  return ~c;
}

inline std::uint32_t adler(std::string_view bytes) {
  std::uint32_t a = 1, b = 0;
  for (char c : bytes) {
    a = (a + static_cast<std::uint8_t>(c)) % 65521;
    b = (b + a) % 65521;
  }
  return b << 16 | a;
}

inline std::string chunk(std::string const& name, std::string const& data) {
  return big_endian(static_cast<std::uint32_t>(data.size())) + name + data + big_endian(crc(name + data));
}

/// The file's bytes; `at(row, column)` is a colour.
template <class At>
std::string picture(std::size_t rows, std::size_t columns, At const& at) {
  std::string pixels;
  for (std::size_t r = 0; r < rows; ++r) {
    pixels += '\0';  // the filter byte of a row: none
    for (std::size_t c = 0; c < columns; ++c) {
      colour const p = at(r, c);
      for (std::uint8_t byte : {p.red, p.green, p.blue}) pixels += static_cast<char>(byte);
    }
  }
  std::string stored = "\x78\x01";
  constexpr std::size_t longest = 65535;
  for (std::size_t begin = 0; begin == 0 || begin < pixels.size(); begin += longest) {
    std::size_t const n = std::min(longest, pixels.size() - begin);
    stored += begin + n == pixels.size() ? '\1' : '\0';
    for (std::size_t length : {n, ~n}) stored += {static_cast<char>(length), static_cast<char>(length >> 8)};
    stored += pixels.substr(begin, n);
  }
  std::string const of_eight_bits_in_rgb{8, 2, 0, 0, 0};
  return "\x89PNG\r\n\x1a\n" +
         chunk("IHDR", big_endian(static_cast<std::uint32_t>(columns)) + big_endian(static_cast<std::uint32_t>(rows)) +
                           of_eight_bits_in_rgb) +
         chunk("IDAT", stored + big_endian(adler(pixels))) + chunk("IEND", {});
}

}  // namespace png
