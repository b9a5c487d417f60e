// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The error about arrays whose elements lack the alignment of a tensor's elements.

#include <cstdint>
#include <string>
#include <string_view>

#include <ostraka/types/support/join_text.hpp>

namespace ostraka::engine {

/// Returns the error sentence about an array whose elements lack this alignment, without the operation's name.
[[gnu::cold]] inline std::string misaligned_in_words(std::int64_t alignment, std::string_view whose) {
  return join_text("elements lie at multiples of ", alignment, " bytes, but those of ", whose,
                   " do not; give memory of this alignment, as std::vector and Kokkos::View have it");
}

}  // namespace ostraka::engine
