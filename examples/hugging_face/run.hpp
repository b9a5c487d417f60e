// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The program under one rule set. Each is compiled in a file of its own.

#include <cstdint>
#include <string>

#include "config.hpp"
#include "names.hpp"
#include "rules.hpp"

namespace hugging_face {

/// The choice of the next token: the likeliest one, or a sampled one.
struct choice {
  double temperature = 0, top_p = 1;
  std::int64_t top_k = 0;
  std::uint64_t seed = 0;
};

struct options {
  std::string folder, rules = "fsdp+tensor", tokens, save;
  int mesh_x = 0, mesh_y = 0;
  std::int64_t steps = 0, generate = 0;
  double rate = 1e-5;
  choice next{};
};

template <class Rules>
void run(mesh_type const& m, options const& o);

}  // namespace hugging_face
