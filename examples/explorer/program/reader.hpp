// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Parts for parsers of small texts: words, numbers, `X=2, Y=4`, and the first error with its place.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ostraka/types/support/join_text.hpp>

#include "text.hpp"

namespace explorer {

/// A name and its number: X=2.
struct named_size {
  std::string name;
  std::int64_t size = 0;
};

/// Holds either the parsed value or the first error.
template <class T>
struct parsed {
  T value{};
  std::optional<text_error> error{};

  [[nodiscard]] bool ok() const { return !error.has_value(); }
};

/// No axis and no mesh axis is larger than this; elements of a tensor are counted in 64 bits.
inline constexpr std::int64_t largest_size_in_text = std::int64_t{1} << 40;

namespace detail {

[[nodiscard]] inline bool begins_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
[[nodiscard]] inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// `X, Y`
template <class Names>
[[nodiscard, gnu::cold]] std::string list_of(Names const& names) {
  std::string text;
  for (auto const& n : names) append_text(text, text.empty() ? "" : ", ", n);
  return text;
}

// Reads the characters of a text in order, and keeps the first error.
class text_reader {
 public:
  explicit text_reader(std::string_view text) : text_(text) {}

  [[nodiscard]] std::optional<text_error> const& error() const { return error_; }

 protected:
  [[nodiscard]] bool at_end() const { return at_ >= text_.size(); }
  [[nodiscard]] char now() const { return at_end() ? '\0' : text_[at_]; }

  // Skips blanks and a comment, but not the end of the line.
  void skip_blanks() {
    while (!at_end() && (now() == ' ' || now() == '\t' || now() == '\r')) ++at_;
    if (now() == '#')
      while (!at_end() && now() != '\n') ++at_;
  }

  [[nodiscard]] bool sees(std::string_view s) {
    skip_blanks();
    return text_.substr(at_, s.size()) == s;
  }

  bool accepts(std::string_view s) {
    if (!sees(s)) return false;
    at_ += s.size();
    return true;
  }

  [[nodiscard]] bool at_end_of_statement() {
    skip_blanks();
    return at_end() || now() == '\n' || now() == ';';
  }

  // A word of letters, digits and underscores; empty if there is none.
  text_span word() {
    skip_blanks();
    text_span w{at_, 0};
    if (at_end() || !begins_name(now())) return w;
    while (!at_end() && (begins_name(now()) || is_digit(now()))) ++at_;
    w.length = at_ - w.begin;
    return w;
  }

  [[nodiscard]] std::string_view text_of(text_span s) const { return text_.substr(s.begin, s.length); }

  // The text at this place, as errors quote it.
  [[nodiscard, gnu::cold]] std::string what_is_here() {
    if (at_end_of_statement()) return now() == ';' ? "';'" : at_end() ? "the end" : "the end of the line";
    text_span const w{at_, word().length};
    if (w.length > 0) return join_text("'", text_of(w), "'");
    std::size_t n = 1;
    while (at_ + n < text_.size() && (static_cast<unsigned char>(text_[at_ + n]) & 0xC0) == 0x80) ++n;
    return join_text("'", printable(text_.substr(at_, n)), "'");
  }

  [[gnu::cold]] bool fail(text_span where, std::string message, std::string remedy = {}) {
    if (!error_) error_ = text_error{where, std::move(message), std::move(remedy)};
    return false;
  }

  // Reports the error "expected …, not …". `expected` names the missing text: an axis, or ]
  [[gnu::cold]] bool expect(std::string const& expected, std::string remedy = {}) {
    skip_blanks();
    std::size_t const begin = at_;
    std::string const here = what_is_here();
    std::size_t const length = at_ > begin ? at_ - begin : 1;
    at_ = begin;
    return fail({begin, length}, join_text("expected ", expected, ", not ", here), std::move(remedy));
  }

  // A positive number.
  bool number(std::int64_t& n, std::int64_t most) {
    skip_blanks();
    std::size_t const begin = at_;
    n = 0;
    bool too_large = false;
    for (; !at_end() && is_digit(now()); ++at_) {
      n = n * 10 + (now() - '0');
      too_large = too_large || n > most;
      if (too_large) n = 0;
    }
    if (at_ == begin) return expect("a number from 1", "sizes are written in digits: B=128");
    if (too_large)
      return fail({begin, at_ - begin}, join_text("a size is at most ", most), "give the size of a real program");
    if (n == 0) return fail({begin, at_ - begin}, "a size is at least 1", "give the number of indices or devices");
    return true;
  }

  // X=2, Y=4
  bool assignments(std::vector<named_size>& all, std::vector<text_span>* where = nullptr) {
    do {
      text_span const name = word();
      if (name.length == 0) return expect("a name", "sizes are written X=2, Y=4");
      if (!accepts("=")) return expect("= and a number", "sizes are written X=2, Y=4");
      std::int64_t n = 0;
      if (!number(n, largest_size_in_text)) return false;
      for (named_size const& s : all)
        if (s.name == text_of(name) && s.size != n)
          return fail(name, join_text(s.name, " is ", s.size, " already"), "give it one size");
      all.push_back({std::string(text_of(name)), n});
      if (where != nullptr) where->push_back(name);
    } while (accepts(","));
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;

 private:
  std::optional<text_error> error_{};
};

class size_reader : text_reader {
 public:
  using text_reader::text_reader;

  [[gnu::cold]] parsed<std::vector<named_size>> read() {
    parsed<std::vector<named_size>> p;
    if (assignments(p.value) && !(skip_blanks(), at_end())) expect("a comma and another size, or the end");
    p.error = error();
    return p;
  }
};

}  // namespace detail

/// `X=2, Y=4`
[[nodiscard, gnu::cold]] inline parsed<std::vector<named_size>> parse_sizes(std::string_view text) {
  return detail::size_reader(text).read();
}

}  // namespace explorer
