// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The values of a JSON text by their paths, such as `rope_scaling.factor`. A null counts as absent.

#include <algorithm>
#include <charconv>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace hugging_face {

/// Thrown if the program cannot do what the user asked for.
class refusal : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class json {
 public:
  /// Errors name the file. @throws refusal unless the text is one value of JSON
  explicit json(std::string_view text, std::string file = "config.json") : rest_(text), file_(std::move(file)) {
    read("", 0);
    if (!next().empty()) fail_to_read("more after its end");
  }

  /// True if there is a value other than null at this path.
  [[nodiscard]] bool has(std::string const& path) const { return text(path, "null") != "null"; }
  [[nodiscard]] bool is_null(std::string const& path) const { return text(path, "") == "null"; }
  [[nodiscard]] double number(std::string const& path, double otherwise) const {
    if (!has(path)) return otherwise;
    double n = 0;
    std::string const& text = values_.at(path);
    auto const [end, fault] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (fault != std::errc() || end != text.data() + text.size() || text.find_first_of("nN") != text.npos)
      fail(path + " is no number");
    return n;
  }
  [[nodiscard]] bool flag(std::string const& path, bool otherwise) const {
    return has(path) ? values_.at(path) == "true" : otherwise;
  }
  [[nodiscard]] std::string text(std::string const& path, std::string const& otherwise) const {
    auto const found = values_.find(path);
    return found == values_.end() ? otherwise : found->second;
  }

  /// Refuses the file: `what` is a sentence about it.
  [[noreturn]] void fail(std::string const& what) const { throw refusal(file_ + ": " + what); }

 private:
  [[noreturn]] void fail_to_read(std::string const& what) const { fail("it is no JSON, but has " + what); }

  std::string_view next() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size()));
    return rest_.substr(0, 1);
  }
  bool take(char c) { return next() == std::string_view(&c, 1) ? rest_.remove_prefix(1), true : false; }
  void expect(char c) {
    return take(c) ? void()
                   : fail_to_read(std::string("no ") + c + " before '" + std::string(rest_.substr(0, 20)) + "'");
  }

  // Escapes stay as they are written: no value that the program needs has one.
  std::string string() {
    expect('"');
    std::size_t end = 0;
    while (end < rest_.size() && rest_[end] != '"') end += rest_[end] == '\\' ? 2u : 1u;
    if (end >= rest_.size()) fail_to_read("a string without an end");
    std::string s(rest_.substr(0, end));
    return rest_.remove_prefix(end + 1), s;
  }

  void read(std::string const& path, int depth) {
    if (depth > 32) fail_to_read("values more than 32 within each other");
    std::string const begin = path.empty() ? "" : path + '.';
    if (take('{')) {
      for (bool more = !take('}'); more; more = take(',') || (expect('}'), false)) {
        std::string const key = (next(), string());
        expect(':');
        read(begin + key, depth + 1);
      }
    } else if (take('[')) {
      int i = 0;
      for (bool more = !take(']'); more; more = take(',') || (expect(']'), false))
        read(begin + std::to_string(i++), depth + 1);
    } else if (next() == "\"") {
      values_[path] = string();
    } else {
      std::string const word(rest_.substr(0, rest_.find_first_of(",]} \t\r\n")));
      rest_.remove_prefix(word.size());
      values_[path] = word;
      if (word != "null" && word != "true" && word != "false") static_cast<void>(number(path, 0));
    }
  }

  std::string_view rest_;
  std::string file_;
  std::map<std::string, std::string> values_;
};

}  // namespace hugging_face
