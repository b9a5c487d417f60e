// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Reads the images from a file, on one device. Errors name the file's line and column.

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "refusal.hpp"

namespace digits {

struct image {
  std::array<int, 64> pixel{};  ///< 0 to 16, row by row
  int digit = 0;
};

/// A line of the file, read field by field.
class csv_line {
 public:
  csv_line(std::string const& file, std::size_t number, std::string_view text)
      : file_(file), number_(number), text_(text) {}

  /// The next field. @throws refusal unless it is an integer from 0 to `largest`
  int next(char const* what, int largest) {
    if (at_ > text_.size())
      refuse(text_.size(), "a line has 64 pixels and a digit, but this one ends after " + std::to_string(fields_) +
                               " numbers; complete or remove it");
    std::string_view const field = text_.substr(at_, text_.substr(at_).find(','));
    int value = 0;
    auto const [end, fault] = std::from_chars(field.data(), field.data() + field.size(), value);
    if (fault != std::errc() || end != field.data() + field.size() || value < 0 || value > largest)
      refuse(at_, std::string(what) + " is an integer from 0 to " + std::to_string(largest) + ", but here stands " +
                      quoted(std::string(field)) + "; correct or remove the line");
    at_ += field.size() + 1;
    ++fields_;
    return value;
  }

  /// @throws refusal if there are more fields
  void end() const {
    if (at_ <= text_.size())
      refuse(at_, "a line has 64 pixels and a digit, but this one goes on with " +
                      quoted(std::string(text_.substr(at_))) + "; shorten or remove it");
  }

 private:
  [[noreturn]] void refuse(std::size_t at, std::string const& sentence) const {
    throw refusal(file_ + ':' + std::to_string(number_) + ':' + std::to_string(at + 1) + ": " + sentence);
  }

  std::string const& file_;
  std::size_t number_;
  std::string_view text_;
  std::size_t at_ = 0;  // beyond the text after the last field has been read
  int fields_ = 0;
};

/// All images of a file. @throws refusal if it cannot be read or a line is not an image
inline std::vector<image> read_images(std::string const& file) {
  std::ifstream in(file, std::ios::binary);
  in.peek();  // a folder can be opened, but not read
  if (!in.is_open() || in.bad())
    throw refusal(file + ": the file cannot be read (" + std::strerror(errno) + "); name a CSV file of images");
  std::string const text{std::istreambuf_iterator<char>(in), {}};

  std::vector<image> all;
  std::size_t number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t const end = std::min(text.find('\n', begin), text.size());
    std::string_view line = std::string_view(text).substr(begin, end - begin);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    csv_line fields(file, ++number, line);
    image& next = all.emplace_back();
    for (int& pixel : next.pixel) pixel = fields.next("a pixel", 16);
    next.digit = fields.next("a digit", 9);
    fields.end();
    begin = end + 1;
  }
  // One image in five is held out; both parts need at least one.
  if (all.size() < 5)
    throw refusal(file + ':' + std::to_string(number + 1) +
                  ":1: at least 5 images are needed, but the file ends after " + std::to_string(number) +
                  "; name a longer one");
  return all;
}

}  // namespace digits
