// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Whole numbers that look random, the same on all ranks and in every run.

#include <cstdint>

namespace ostraka::testing {

class draws {
 public:
  explicit draws(std::uint64_t seed) : state_(seed) {}

  /// A number from 0 to n − 1.
  std::int64_t operator()(std::int64_t n) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::int64_t>(state_ >> 33) % n;
  }

 private:
  std::uint64_t state_;
};

}  // namespace ostraka::testing
