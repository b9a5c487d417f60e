// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The sizes of the model and of a batch, and the seed: the settings that the programs that train it share.

#include <cstdint>
#include <stdexcept>
#include <string>

namespace transformer {

/// Thrown if a program cannot do what the user asked for.
class refusal : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct settings {
  std::int64_t batch = 16, length = 64;
  std::int64_t layers = 2, width = 64, heads = 4;
  std::int64_t experts = 8;  ///< in each layer with a mixture of experts
  std::int64_t rounds = 1;  ///< rounds of the layers of a stack, along Q
  double rate = 0.01;       ///< the highest rate of learning
  std::uint64_t seed = 1;

  // set_widths computes these.
  std::int64_t groups = 0;   ///< heads of keys and values
  std::int64_t repeats = 0;  ///< heads of queries for each
  std::int64_t inner = 0;    ///< the width within SwiGLU
  std::int64_t latents = 0, rotary = 0;
};

/// Sets the widths. `grouped`: two heads of queries share keys and values, if the number of heads is even. @throws
/// refusal
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
