// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Places in a text, and the errors there, in the form that compilers use:
///
///     error: mesh axis Z is not in the mesh, which has X, Y
///       h[B_Z, S] W[S, H_Y] -> a[B_Z, H_Y]
///           ^
///       remedy: divide B over one of these, or add it: --mesh Z=…

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include <ostraka/types/support/join_text.hpp>

namespace explorer {

using ostraka::append_text;
using ostraka::join_text;

/// A part of a text.
struct text_span {
  std::size_t begin = 0;
  std::size_t length = 0;

  [[nodiscard]] std::size_t end() const { return begin + length; }
};

/// An error at a place, and its remedy.
struct text_error {
  text_span where{};
  std::string message{};
  std::string remedy{};  ///< empty if there is none
};

/// The line of a text that a place is in.
[[nodiscard, gnu::cold]] inline text_span line_of(std::string_view text, std::size_t at) {
  at = std::min(at, text.size());
  std::size_t const before = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
  std::size_t const begin = before == std::string_view::npos ? 0 : before + 1;
  std::size_t const end = std::min(text.find('\n', at), text.size());
  return {begin, end - begin};
}

/// Counted from 1, as editors do.
[[nodiscard, gnu::cold]] inline std::size_t line_number(std::string_view text, std::size_t at) {
  return 1 + static_cast<std::size_t>(
                 std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(std::min(at, text.size())), '\n'));
}

namespace detail {

/// Characters, not bytes: UTF-8 continuation bytes take no place.
[[nodiscard, gnu::cold]] inline std::size_t characters_of(std::string_view s) {
  return static_cast<std::size_t>(
      std::count_if(s.begin(), s.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

/// A text as a terminal can show it: an unprintable character becomes a question mark, a tab one space.
[[nodiscard, gnu::cold]] inline std::string printable(std::string_view s) {
  std::string shown;
  for (char c : s) {
    auto const byte = static_cast<unsigned char>(c);
    shown += c == '\t' ? ' ' : byte < 32 || byte == 127 ? '?' : c;
  }
  return shown;
}

}  // namespace detail

/// The error as text: the line, a caret under the place, the remedy. `source` is a file's name, or empty where the text
/// is an argument.
[[nodiscard, gnu::cold]] inline std::string describe(text_error const& e, std::string_view text,
                                                     std::string_view source = {}) {
  text_span const line = line_of(text, e.where.begin);
  std::size_t const begin = std::min(std::max(e.where.begin, line.begin), line.end());
  std::size_t const end = std::min(std::max(e.where.end(), begin), line.end());
  std::size_t const column = detail::characters_of(text.substr(line.begin, begin - line.begin));
  std::size_t const width = std::max<std::size_t>(detail::characters_of(text.substr(begin, end - begin)), 1);
  std::string said;
  if (!source.empty()) append_text(said, source, ':', line_number(text, begin), ':', column + 1, ": ");
  append_text(said, "error: ", e.message, "\n  ", detail::printable(text.substr(line.begin, line.length)), "\n  ",
              std::string(column, ' '), '^', std::string(width - 1, '~'), '\n');
  if (!e.remedy.empty()) append_text(said, "  remedy: ", e.remedy, '\n');
  return said;
}

}  // namespace explorer
