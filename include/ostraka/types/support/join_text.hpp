// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Joins text from pieces: words, characters and numbers. A sum of std::strings makes, and has to destroy, a string for
/// each piece at every call, which is four times the code. Here one function takes the pieces themselves. Overloads
/// decide how each piece is passed, and the passed type determines its kind; traits of the pieces themselves would need
/// a case for each length of words.

#include <concepts>
#include <cstdarg>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>

namespace ostraka {

namespace detail {

/// The kind of a piece, in three bits. A piece with kind 0 ends the text.
enum text_piece : std::uint64_t { of_words = 1, of_string, of_view, of_character, of_signed, of_unsigned, of_real };

/// An integer that is not a character, or a class that converts to one without narrowing, as an extent does.
template <class N>
concept whole_number = (std::integral<N> && !std::same_as<N, bool> && !std::same_as<N, char>) ||
                       (std::is_class_v<N> && requires(N const& n) { std::int64_t{n}; });

/// A piece as it is passed to a variadic function.
inline char const* pass_piece(char const* words) { return words; }
inline std::string const* pass_piece(std::string const& text) { return &text; }
inline std::string_view const* pass_piece(std::string_view const& text) { return &text; }
inline int pass_piece(std::same_as<char> auto c) { return c; }
inline double pass_piece(std::floating_point auto x) { return static_cast<double>(x); }
inline auto pass_piece(whole_number auto n) {
  if constexpr (std::unsigned_integral<decltype(n)>)
    return static_cast<std::uint64_t>(n);
  else
    return static_cast<std::int64_t>(n);
}

/// The kind of a piece, from the type in which it is passed.
template <class Passed>
inline constexpr text_piece kind_of_piece{};
template <>
inline constexpr text_piece kind_of_piece<char const*> = of_words;
template <>
inline constexpr text_piece kind_of_piece<std::string const*> = of_string;
template <>
inline constexpr text_piece kind_of_piece<std::string_view const*> = of_view;
template <>
inline constexpr text_piece kind_of_piece<int> = of_character;
template <>
inline constexpr text_piece kind_of_piece<std::int64_t> = of_signed;
template <>
inline constexpr text_piece kind_of_piece<std::uint64_t> = of_unsigned;
template <>
inline constexpr text_piece kind_of_piece<double> = of_real;

/// The kinds of all pieces in one number, the first in its lowest bits.
constexpr std::uint64_t pack_kinds(std::initializer_list<text_piece> kinds) {
  std::uint64_t number = 0;
  int at = 0;
  for (text_piece const k : kinds) number |= k << at, at += 3;
  return number;
}

template <class... Passed>
inline constexpr std::uint64_t kinds_of_pieces = pack_kinds({kind_of_piece<Passed>...});

[[gnu::cold]] inline void append_list(std::string& to, std::uint64_t kinds, std::va_list pieces) {
  // clang-format off
  for (; kinds != 0; kinds >>= 3)
    switch (kinds & 7) {
      case of_words: to += va_arg(pieces, char const*); break;
      case of_string: to += *va_arg(pieces, std::string const*); break;
      case of_view: to += *va_arg(pieces, std::string_view const*); break;
      case of_character: to += static_cast<char>(va_arg(pieces, int)); break;
      case of_signed: to += std::to_string(va_arg(pieces, std::int64_t)); break;
      case of_unsigned: to += std::to_string(va_arg(pieces, std::uint64_t)); break;
      case of_real: to += std::to_string(va_arg(pieces, double)); break;
      default: break;
    }
  // clang-format on
}

[[gnu::cold, gnu::noinline]] inline void append_pieces(std::string* to, std::uint64_t kinds, ...) {
  std::va_list pieces;
  va_start(pieces, kinds);
  append_list(*to, kinds, pieces);
  va_end(pieces);
}

[[gnu::cold, gnu::noinline]] inline std::string join_pieces(std::uint64_t kinds, ...) {
  std::string text;
  std::va_list pieces;
  va_start(pieces, kinds);
  append_list(text, kinds, pieces);
  va_end(pieces);
  return text;
}

}  // namespace detail

/// Appends the pieces to a text.
template <class... Ts>
[[gnu::always_inline]] inline void append_text(std::string& to, Ts const&... pieces) {
  static_assert(sizeof...(Ts) <= 21, "append some of them first: a number has the kinds of so many pieces");
  detail::append_pieces(&to, detail::kinds_of_pieces<decltype(detail::pass_piece(pieces))...>,
                        detail::pass_piece(pieces)...);
}

/// Returns the pieces joined to one text.
template <class... Ts>
[[nodiscard, gnu::always_inline]] inline std::string join_text(Ts const&... pieces) {
  static_assert(sizeof...(Ts) <= 21, "join some of them first: a number has the kinds of so many pieces");
  return detail::join_pieces(detail::kinds_of_pieces<decltype(detail::pass_piece(pieces))...>,
                             detail::pass_piece(pieces)...);
}

}  // namespace ostraka
