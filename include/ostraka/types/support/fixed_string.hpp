// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 1. A string that can be a template argument: an axis' name, `os::axis<"I">`.

#include <cstddef>
#include <string_view>

namespace ostraka {

/// A string literal as a structural value. It appears only in the bases of axis types, never in a kernel's name.
template <std::size_t N>
struct fixed_string {
  char text[N]{};

  consteval fixed_string(char const (&literal)[N]) {
    for (std::size_t i = 0; i < N; ++i) text[i] = literal[i];
  }

  [[nodiscard]] constexpr std::string_view view() const { return {text, N - 1}; }
};

}  // namespace ostraka
