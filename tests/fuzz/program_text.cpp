// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// A target of libFuzzer: bytes as the text of a program. tests/plan/program/parse.cpp feeds mutations where there is
/// none.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <ostraka/plan/program/parse.hpp>

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string_view const text(reinterpret_cast<char const*>(data), size);
  auto const p = ostraka::planner::parse_program(text, {{"X", 2}, {"Y", 4}}, {{"B", 8}, {"S", 16}, {"M", 32}});
  if (!p.ok()) (void)ostraka::planner::describe(*p.error, text, "text");
  (void)ostraka::planner::parse_sizes(text);
  return 0;
}
