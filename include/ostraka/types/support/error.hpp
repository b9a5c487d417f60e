// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 1. The exception for mistakes that appear only at run time: extents, sizes of meshes. It is thrown before any
/// communication, on all devices alike. Its text reads "operation: rule; remedy".

#include <cstdarg>
#include <cstdint>
#include <stdexcept>
#include <string>

#include <ostraka/types/support/join_text.hpp>

namespace ostraka {

/// Thrown when an operation is called with extents or on a mesh that it does not allow.
struct [[gnu::visibility("default")]] error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

namespace detail {

[[noreturn, gnu::cold, gnu::noinline]] inline void throw_pieces(std::uint64_t kinds, ...) {
  std::string text;
  std::va_list pieces;
  va_start(pieces, kinds);
  append_list(text, kinds, pieces);
  va_end(pieces);
  throw error(text);
}

}  // namespace detail

/// Throws an error with the joined pieces as its text. Callers contain neither the text nor the exception, nor the code
/// that destroys them.
template <class... Ts>
[[noreturn, gnu::always_inline]] inline void throw_error(Ts const&... pieces) {
  static_assert(sizeof...(Ts) <= 21, "join some of them first: a number has the kinds of so many pieces");
  detail::throw_pieces(detail::kinds_of_pieces<decltype(detail::pass_piece(pieces))...>, detail::pass_piece(pieces)...);
}

}  // namespace ostraka
