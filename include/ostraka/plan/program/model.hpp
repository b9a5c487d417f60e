// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. A model and a batch, for os::advise_parallelism and for the programs that os::search_rules divides: the
/// size of a layer, the number of layers, and the tokens of a step.
///
///     constexpr os::transformer_shape llama_13b{.width = 5120, .inner = 13824, .up_products = 2, .heads = 40,
///                                               .head_width = 128, .layers = 40, .vocabulary = 32000};
///     constexpr os::token_batch batch{.sequences = 1024, .length = 4096};

#include <cstdint>

#include <ostraka/plan/attention/attention_tiles.hpp>

namespace ostraka {

/// A transformer: the shape of a layer, and the number of layers.
struct transformer_shape {
  std::int64_t width = 0;       ///< width of the model, between sublayers
  std::int64_t inner = 0;       ///< inner width of the feed-forward sublayer, or of one expert
  int up_products = 1;          ///< products from width to inner: 2 with a gate
  std::int64_t heads = 1;       ///< heads of queries
  std::int64_t kv_heads = 0;    ///< heads of keys and values; 0: as many as heads of queries
  std::int64_t head_width = 0;
  std::int64_t layers = 1;
  std::int64_t vocabulary = 0;  ///< extent of the logits after all layers; 0: no logits
  std::int64_t experts = 1;     ///< experts of a feed-forward sublayer
  std::int64_t active = 1;      ///< experts per token
  int element_bytes = 2;        ///< bytes of an element of weights, activations and gradients in messages
  std::int64_t window = 0;      ///< window of attention, os::window(w); 0: all keys

  [[nodiscard]] constexpr std::int64_t heads_of_keys() const { return kv_heads > 0 ? kv_heads : heads; }

  friend constexpr bool operator==(transformer_shape const&, transformer_shape const&) = default;
};

/// The tokens of a training step.
struct token_batch {
  std::int64_t sequences = 1;
  std::int64_t length = 1;

  [[nodiscard]] constexpr std::int64_t tokens() const { return sequences * length; }
  friend constexpr bool operator==(token_batch const&, token_batch const&) = default;
};

namespace planner {

/// The share of all pairs of a position and a key that attention multiplies: the pairs in the engine's tiles if no mesh
/// axis divides the positions.
[[nodiscard]] constexpr double multiplied_share(transformer_shape const& m, token_batch const& b, bool is_causal) {
  return share_in_tiles({is_causal, m.window > 0 ? m.window : seen_positions::any}, b.length);
}

}  // namespace planner

}  // namespace ostraka
