// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// A target of libFuzzer: bytes as an index of parts. OSTRAKA_BUILD_FUZZERS=ON builds it.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuzz/header_targets.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  ostraka::testing::try_index({reinterpret_cast<char const*>(data), size});
  return 0;
}
