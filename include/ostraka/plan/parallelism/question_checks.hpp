// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. Checks the arguments of advice: that the numbers of a model, a batch and a machine are consistent. One
/// sentence reports the first fault.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include <ostraka/plan/hardware/check_machine.hpp>
#include <ostraka/plan/parallelism/transformer.hpp>
#include <ostraka/types/support/error.hpp>

namespace ostraka::planner {

namespace detail {

constexpr void refuse_unless(bool good, std::string_view operation, std::string_view why) {
  if (!good) throw_error(operation, ": ", why);
}

}  // namespace detail

/// @throws ostraka::error if the bytes that all devices move together, for these tokens over `ways` devices or for the
/// weights, do not fit into 64 bits
constexpr void check_counts(std::string_view operation, transformer_shape const& m, std::int64_t tokens,
                            std::int64_t ways_of_tokens, std::int64_t ways_of_weights) {
  auto const product = [](auto... n) { return (static_cast<double>(n) * ...); };
  double const widest = static_cast<double>(m.width) + static_cast<double>(m.inner) + product(m.heads, m.head_width);
  detail::refuse_unless(tokens >= 1 && ways_of_tokens >= 1 && ways_of_weights >= 1 &&
                            product(widest, tokens, m.active, ways_of_tokens) < 4e18 &&
                            product(widest, m.width, m.experts, ways_of_weights) < 4e18,
                        operation,
                        "what all devices move together is counted in 64 bits, of one token and one device at least; "
                        "give the sizes of a real model");
}

/// @throws ostraka::error for sizes that no model and no batch has
constexpr void check_sizes(std::string_view operation, transformer_shape const& m, token_batch const& b) {
  auto const require = [&](bool good, std::string_view why) { detail::refuse_unless(good, operation, why); };
  constexpr std::int64_t most = 1 << 29;  // ticks of a pipeline are an int
  for (std::int64_t n : {m.width, m.inner, m.heads, m.head_width, m.layers, m.experts, m.active, b.sequences, b.length})
    require(n >= 1 && n <= most,
            "sizes of a model and a batch are from 1 to 2^29; give width, inner, heads, head_width, layers, experts "
            "and active of the model, sequences and length of the batch");
  require(
      m.up_products >= 1 && m.up_products <= 8 && m.element_bytes >= 1,
      "a layer has from 1 to 8 products to its inner width, of elements of 1 byte or more; give up_products = 1, or "
      "2 with a gate");
  require(m.kv_heads >= 0 && m.heads % m.heads_of_keys() == 0,
          "heads of keys share the heads of queries evenly; give kv_heads that divides heads, or 0 for as many");
  require(m.window >= 0, "a window has no negative number of keys; give window = 0 for all keys");
  require(m.active <= m.experts, "a token goes to as many experts as there are at most; give active <= experts");
  require(b.length * m.active % m.experts == 0,
          "experts share the positions of a sequence evenly; give a length of which length * active is a multiple of "
          "experts");
  check_counts(operation, m, b.tokens(), std::max(m.heads + m.experts, b.length), std::max(b.sequences, b.length));
}

/// The same checks, and that the machine has the numbers that are needed, and links along the mesh axis of this
/// parallelism.
/// @throws ostraka::error
constexpr void check_parallelism(std::string_view operation, transformer_shape const& m, token_batch const& b,
                                 machine const& on, parallelism p) {
  check_sizes(operation, m, b);
  check_machine(operation, on, m.element_bytes);
  check_links(operation, on, on.along(name_of(p)), name_of(p));
}

}  // namespace ostraka::planner
