// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// @file
/// Text of several pieces, against a stream's: every kind of piece in every place, the ends of whole numbers' ranges.
// ranks: 1
#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <sstream>
#include <string>
#include <string_view>

#include <ostraka/types/support/error.hpp>
#include <ostraka/types/support/join_text.hpp>

using ostraka::append_text;
using ostraka::join_text;

namespace {

template <class... Ts>
std::string streamed(Ts const&... pieces) {
  std::ostringstream all;
  (all << ... << pieces);
  return all.str();
}

template <class... Ts>
void check(Ts const&... pieces) {
  std::string const expected = streamed(pieces...);
  CHECK(join_text(pieces...) == expected);
  std::string begun = "begun ";
  append_text(begun, pieces...);
  CHECK(begun == "begun " + expected);
}

template <class N>
void check_number() {
  using limits = std::numeric_limits<N>;
  check(limits::min(), ' ', limits::max(), " ", N(0), N(42));
}

}  // namespace

TEST_CASE("pieces of all kinds") {
  std::string const text = "a text", nothing;
  std::string_view const part = std::string_view(text).substr(2, 3);
  char const* const words = "words";
  check(text);
  check("");
  check(nothing, words, part, 'c', 7, text);
  check(7, 'c', part, words, nothing, text, std::string("a temporary"), "a literal");
  check(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, "as many as there can be");
  std::string with_zero("\0in it", 6);
  check(with_zero, std::string_view(with_zero));
  CHECK(join_text(true ? "a choice" : text.c_str(), '.') == "a choice.");
}

TEST_CASE("whole numbers of every type") {
  check_number<int>();
  check_number<unsigned>();
  check_number<std::int64_t>();
  check_number<std::uint64_t>();
  check_number<std::size_t>();
  check_number<std::int16_t>();
  check_number<std::uint16_t>();
  check_number<long long>();
  check_number<unsigned long long>();
  CHECK(join_text(std::int8_t{-128}, ' ', std::uint8_t{255}) == "-128 255");  // numbers, not characters as of a stream
}

TEST_CASE("real numbers as std::to_string has them, and what converts to a whole one") {
  struct extent {
    operator std::int64_t() const { return 12; }
  };
  CHECK(join_text(0.5, ' ', -2.0f) == std::to_string(0.5) + ' ' + std::to_string(-2.0f));
  CHECK(join_text("I = ", extent{}) == "I = 12");
}

TEST_CASE("a text is appended to itself") {
  std::string text = "ab";
  append_text(text, "-", 1);
  text = join_text(text, text, '.');
  CHECK(text == "ab-1ab-1.");
}

TEST_CASE("an error of several pieces says them as one text") {
  std::string const text = "I = ";
  CHECK_THROWS_WITH_AS(ostraka::throw_error("make: ", text, 3, ',', ' ', -0.5),
                       ("make: I = 3, " + std::to_string(-0.5)).c_str(), ostraka::error);
}
