// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// A target of libFuzzer: bytes as the text of a program. tests/explorer/parse.cpp feeds mutations where there is
/// none.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "../../examples/explorer/program/parse.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string_view const text(reinterpret_cast<char const*>(data), size);
  auto const p = explorer::parse_program(text, {{"X", 2}, {"Y", 4}}, {{"B", 8}, {"S", 16}, {"M", 32}});
  if (!p.ok()) (void)explorer::describe(*p.error, text, "text");
  (void)explorer::parse_sizes(text);
  return 0;
}
