// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. A reader of header text from untrusted files. It only moves forward, does not recurse, and throws
/// malformed_header at unexpected text. Strings follow JSON (RFC 8259): UTF-8, escapes, no bare control characters.
/// Numbers are non-negative integers, the only numbers in headers. An index of parts may have values of any kind, which
/// skip_value skips.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include <ostraka/engine/formats/file_contents.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::engine {

/// Text, read from its beginning.
class header_text {
 public:
  /// `called`: the name of the text in errors.
  explicit header_text(std::string_view text, std::string_view called = "header") : text_(text), called_(called) {}

  [[noreturn]] void fail(std::string const& what) const {
    throw malformed_header(join_text(what, " (byte ", at_, " of the ", called_, ")"));
  }

  [[nodiscard]] bool at_end() const { return at_ == text_.size(); }
  [[nodiscard]] bool is_next(char c) const { return !at_end() && text_[at_] == c; }

  void skip_space() {
    while (!at_end() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r')) ++at_;
  }

  /// Takes the character if it comes next after white space.
  bool take(char c) {
    skip_space();
    if (!is_next(c)) return false;
    ++at_;
    return true;
  }

  void expect(char c) {
    if (!take(c)) fail(join_text("expected '", c, '\''));
  }

  /// Takes the word if it comes next after white space.
  bool take_word(std::string_view word) {
    skip_space();
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  /// Returns a whole number from 0 to 2^63 − 1.
  [[nodiscard]] std::int64_t number() {
    skip_space();
    std::size_t const begin = at_;
    std::int64_t n = 0;
    for (; !at_end() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      int const digit = text_[at_] - '0';
      if (n > (std::numeric_limits<std::int64_t>::max() - digit) / 10) fail("a number is above 2^63 - 1");
      n = n * 10 + digit;
    }
    if (at_ == begin) fail("expected a whole number that is not negative");
    if (text_[begin] == '0' && at_ - begin > 1) fail("a number begins with 0");
    if (!at_end() && (text_[at_] == '.' || text_[at_] == 'e' || text_[at_] == 'E')) fail("a number is not whole");
    return n;
  }

  /// Returns the text up to the next quote of this kind, without escapes.
  [[nodiscard]] std::string_view plain_string(char quote) {
    expect(quote);
    std::size_t const begin = at_;
    for (; !is_next(quote); ++at_)
      if (at_end() || text_[at_] == '\\' || static_cast<unsigned char>(text_[at_]) < 0x20)
        fail("a string does not end");
    return text_.substr(begin, at_++ - begin);
  }

  /// Returns a JSON string.
  [[nodiscard]] std::string string() {
    expect('"');
    std::string s;
    while (!is_next('"')) {
      if (at_end()) fail("a string does not end");
      auto const c = static_cast<unsigned char>(text_[at_]);
      if (c == '\\')
        escape(s);
      else if (c < 0x20)
        fail("a control character stands in a string");
      else
        character(s);
    }
    ++at_;
    return s;
  }

  /// Skips a JSON value of any kind. Its brackets may be nested to this depth.
  void skip_value() {
    constexpr std::size_t deepest = 32;
    std::string closing;  // the closing brackets of the open ones, innermost last
    for (;;) {
      bool const object = take('{');
      if (object || take('[')) {
        if (closing.size() == deepest) fail(join_text("brackets stand more than ", deepest, " within each other"));
        closing += object ? '}' : ']';
        if (!take(closing.back())) {
          if (object) skip_key();
          continue;
        }
        closing.pop_back();
      } else {
        skip_scalar();
      }
      while (!closing.empty() && !take(',')) {
        expect(closing.back());
        closing.pop_back();
      }
      if (closing.empty()) return;
      if (closing.back() == '}') skip_key();
    }
  }

 private:
  void skip_key() {
    static_cast<void>(string());
    expect(':');
  }

  // Skips a string, a word, or a number, also with a sign, a fraction and an exponent.
  void skip_scalar() {
    skip_space();
    if (is_next('"')) return static_cast<void>(string());
    if (take_word("true") || take_word("false") || take_word("null")) return;
    static_cast<void>(take('-'));
    skip_digits();
    if (is_next('.')) {
      ++at_;
      skip_digits();
    }
    if (is_next('e') || is_next('E')) {
      ++at_;
      if (is_next('+') || is_next('-')) ++at_;
      skip_digits();
    }
  }

  void skip_digits() {
    std::size_t const begin = at_;
    while (!at_end() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
    if (at_ == begin) fail("expected a value");
  }

  unsigned byte_at(std::size_t i) const { return i < text_.size() ? static_cast<unsigned char>(text_[i]) : 0; }

  // Appends one UTF-8 character: the shortest form, no surrogate, at most U+10FFFF.
  void character(std::string& s) {
    unsigned const first = byte_at(at_);
    std::size_t const length = first < 0x80   ? 1
                               : first < 0xC2 ? 0
                               : first < 0xE0 ? 2
                               : first < 0xF0 ? 3
                               : first < 0xF5 ? 4
                                              : 0;
    bool valid = length > 0 && at_ + length <= text_.size();
    for (std::size_t i = 1; valid && i < length; ++i) valid = (byte_at(at_ + i) & 0xC0u) == 0x80u;
    unsigned const second = byte_at(at_ + 1);
    if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) || (first == 0xF0 && second < 0x90) ||
        (first == 0xF4 && second > 0x8F))
      valid = false;
    if (!valid) fail("a string is not UTF-8");
    s.append(text_.substr(at_, length));
    at_ += length;
  }

  void escape(std::string& s) {
    constexpr std::string_view letters = "\"\\/bfnrt", meant = "\"\\/\b\f\n\r\t";
    ++at_;
    if (is_next('u')) return escaped_code(s);
    std::size_t const which = at_end() ? std::string_view::npos : letters.find(text_[at_]);
    if (which == std::string_view::npos) fail("a string has an escape that JSON does not know");
    s += meant[which];
    ++at_;
  }

  unsigned four_digits() {
    unsigned code = 0;
    ++at_;
    for (int i = 0; i < 4; ++i, ++at_) {
      unsigned const c = byte_at(at_);
      unsigned const lower = c | 0x20u;
      if (c >= '0' && c <= '9')
        code = code * 16 + (c - '0');
      else if (lower >= 'a' && lower <= 'f')
        code = code * 16 + (lower - 'a' + 10);
      else
        fail("\\u is followed by four hexadecimal digits");
    }
    return code;
  }

  void escaped_code(std::string& s) {
    unsigned code = four_digits();
    if (code >= 0xD800 && code < 0xDC00) {
      if (byte_at(at_) != '\\' || byte_at(at_ + 1) != 'u') fail("half of a surrogate pair stands in a string");
      ++at_;
      unsigned const low = four_digits();
      if (low < 0xDC00 || low > 0xDFFF) fail("half of a surrogate pair stands in a string");
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    } else if (code >= 0xDC00 && code < 0xE000) {
      fail("half of a surrogate pair stands in a string");
    }
    auto const put = [&](unsigned byte) { s += static_cast<char>(byte); };
    if (code < 0x80) return put(code);
    if (code < 0x800) {
      put(0xC0 | code >> 6);
    } else {
      if (code < 0x10000) {
        put(0xE0 | code >> 12);
      } else {
        put(0xF0 | code >> 18);
        put(0x80 | (code >> 12 & 0x3F));
      }
      put(0x80 | (code >> 6 & 0x3F));
    }
    put(0x80 | (code & 0x3F));
  }

  std::string_view text_;
  std::string_view called_;
  std::size_t at_ = 0;
};

/// Returns the text as a JSON string.
[[nodiscard]] inline std::string json_string(std::string_view text) {
  constexpr char const* digits = "0123456789abcdef";
  std::string s = "\"";
  for (char c : text) {
    auto const code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      (s += '\\') += c;
    else if (code < 0x20)
      ((s += "\\u00") += digits[code >> 4]) += digits[code & 15];
    else
      s += c;
  }
  return s + '"';
}

}  // namespace ostraka::engine
