// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The error that the program throws if it cannot do what the user asked for.

#include <stdexcept>
#include <string>

namespace digits {

/// Thrown on all devices alike; device 0 prints it.
struct refusal : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Text from outside, in quotation marks: shortened, and without characters that a terminal would interpret.
inline std::string quoted(std::string text) {
  if (text.size() > 24) text = text.substr(0, 21) + "...";
  for (char& c : text)
    if (c < ' ' || c > '~') c = '?';
  return '\'' + text + '\'';
}

}  // namespace digits
