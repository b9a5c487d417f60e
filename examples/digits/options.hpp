// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The command line.

#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

#include "refusal.hpp"

namespace digits {

inline constexpr char const* help =
    "usage: digits [options] [FILE.csv]\n"
    "\n"
    "Learns to read handwritten digits by ridge regression on random features, sharded over all devices.\n"
    "FILE.csv has an image in each line: 64 pixels from 0 to 16, then the digit. Default: the file beside the "
    "program's source.\n"
    "\n"
    "  --features N      number of random features            (default 1000)\n"
    "  --ridge L         weight of the penalty, above 0       (default 30)\n"
    "  --iterations N    most steps of conjugate gradients    (default 600)\n"
    "  --seed N          of the random features               (default 1)\n"
    "  --save FILE       write the coefficients, features x 10, as CSV\n"
    "  --help            this text\n";

struct options {
  std::string csv;
  std::string save;
  std::int64_t features = 1000;
  double ridge = 30;
  int iterations = 600;
  std::uint64_t seed = 1;
  bool help = false;
};

/// A number of type T that is at least `least`.
template <class T>
T parse_number(std::string_view option, std::string_view text, T least, char const* what) {
  T value{};
  auto const [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc() || end != text.data() + text.size() || !(value >= least) ||
      std::isinf(static_cast<double>(value)))
    throw refusal("options: " + std::string(option) + " takes " + what + ", not " + quoted(std::string(text)) +
                  "; see --help");
  return value;
}

/// @throws refusal for an unknown option or a value that it cannot read
inline options parse_options(int argc, char const* const* argv, std::string const& default_csv) {
  options o;
  for (int i = 1; i < argc; ++i) {
    std::string_view const name = argv[i];
    auto const value = [&]() -> std::string_view {
      if (i + 1 == argc)
        throw refusal("options: " + std::string(name) + " takes a value, but nothing follows it; see --help");
      return argv[++i];
    };
    if (name == "--help")
      o.help = true;
    else if (name == "--features")
      o.features = parse_number<std::int64_t>(name, value(), 1, "a whole number from 1 on");
    else if (name == "--ridge")
      o.ridge = parse_number<double>(name, value(), 1e-300, "a number above 0");
    else if (name == "--iterations")
      o.iterations = parse_number<int>(name, value(), 1, "a whole number from 1 on");
    else if (name == "--seed")
      o.seed = parse_number<std::uint64_t>(name, value(), 0, "a whole number from 0 on");
    else if (name == "--save")
      o.save = value();
    else if (name.substr(0, 1) == "-")
      throw refusal("options: there is no option " + quoted(std::string(name)) + "; see --help");
    else if (o.csv.empty())
      o.csv = name;
    else
      throw refusal("options: one file at a time, but " + quoted(std::string(name)) + " follows " + quoted(o.csv) +
                    "; see --help");
  }
  if (o.csv.empty()) o.csv = default_csv;
  return o;
}

}  // namespace digits
