// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// How large the model and a batch are, and where numbers come from: what the programs that train it share.

#include <cstdint>
#include <stdexcept>
#include <string>

namespace transformer {

/// What cannot be done as it was asked for.
class refusal : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct settings {
  std::int64_t batch = 16, length = 64;
  std::int64_t layers = 2, width = 64, heads = 4;
  std::int64_t experts = 8;  ///< of a layer that has a mixture of them
  std::int64_t rounds = 1;  ///< of the layers of a stack, along Q
  double rate = 0.01;       ///< of learning, at its highest
  std::uint64_t seed = 1;

  // What follows from these.
  std::int64_t groups = 0;   ///< heads of keys and values
  std::int64_t repeats = 0;  ///< heads of queries for each
  std::int64_t inner = 0;    ///< the width within SwiGLU
  std::int64_t latents = 0, rotary = 0;
};

/// `grouped`: are two heads of queries to share keys and values, where heads are even? @throws refusal
inline void set_widths(settings& s, bool grouped) {
  if (s.width % s.heads != 0 || s.width / s.heads % 2 != 0)
    throw refusal("options: heads have an even width, but " + std::to_string(s.width) + " is no even multiple of " +
                  std::to_string(s.heads) + " heads");
  s.repeats = grouped && s.heads % 2 == 0 ? 2 : 1;
  s.groups = s.heads / s.repeats;
  s.inner = 3 * s.width;
  s.rotary = s.width / s.heads;
  s.latents = s.width / 2;
}

}  // namespace transformer
