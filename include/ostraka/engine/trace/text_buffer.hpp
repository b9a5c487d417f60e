// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Builds text from printf formats, which cost little compile time in programs that never write any.

#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace ostraka::engine {

class text_buffer {
 public:
  std::string text;

  /// Appends formatted text. @pre it is shorter than 512 bytes
  [[gnu::cold, gnu::noinline, gnu::format(printf, 2, 3)]] void put(char const* format, ...) {
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    text += line;
  }

  /// Appends a JSON string, which is UTF-8: each byte that is not becomes U+FFFD.
  [[gnu::cold, gnu::noinline]] void put_quoted(std::string_view s) {
    text += '"';
    while (!s.empty()) {
      std::size_t const bytes = bytes_of_first(s);
      unsigned char const c = static_cast<unsigned char>(s.front());
      if (c < 0x20) {
        put("\\u%04x", static_cast<unsigned>(c));
      } else if (bytes == 0) {
        text += "\\ufffd";
      } else {
        if (c == '"' || c == '\\') text += '\\';
        text += s.substr(0, bytes);
      }
      s.remove_prefix(bytes > 0 ? bytes : 1);
    }
    text += '"';
  }

  /// Appends nanoseconds as microseconds.
  [[gnu::cold, gnu::noinline]] void put_microseconds(std::int64_t nanoseconds) {
    long long const size = nanoseconds < 0 ? -nanoseconds : nanoseconds;
    put("%s%lld.%03d", nanoseconds < 0 ? "-" : "", size / 1000, static_cast<int>(size % 1000));
  }

 private:
  // Returns the bytes of the first character in UTF-8 (RFC 3629, section 4); 0 if it is not valid.
  [[nodiscard, gnu::cold, gnu::noinline]] static std::size_t bytes_of_first(std::string_view s) {
    auto const at = [&](std::size_t i) { return i < s.size() ? static_cast<unsigned char>(s[i]) : 0; };
    auto const is_continuation = [&](std::size_t i) { return (at(i) & 0xC0) == 0x80; };
    int const lead = at(0), next = at(1);
    if (lead < 0x80) return 1;
    if (lead >= 0xC2 && lead < 0xE0) return is_continuation(1) ? 2 : 0;
    if (lead >= 0xE0 && lead < 0xF0) {
      bool const overlong = lead == 0xE0 && next < 0xA0, surrogate = lead == 0xED && next >= 0xA0;
      return is_continuation(1) && is_continuation(2) && !overlong && !surrogate ? 3 : 0;
    }
    bool const outside = (lead == 0xF0 && next < 0x90) || (lead == 0xF4 && next >= 0x90) || lead < 0xF0 || lead > 0xF4;
    return !outside && is_continuation(1) && is_continuation(2) && is_continuation(3) ? 4 : 0;
  }
};

}  // namespace ostraka::engine
