// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. A transformer as far as its parallelism goes: how large a layer is, how many tokens a step has, and in how
/// many ways each kind of parallelism divides them.
///
///     constexpr os::transformer_shape llama_13b{.width = 5120, .inner = 13824, .heads = 40, .head_width = 128,
///                                               .layers = 40};

#include <cstdint>

namespace ostraka {

/// Ways to divide the training of a transformer over devices, each along a mesh axis of its own.
enum class parallelism : std::uint8_t {
  data,           ///< tokens are divided, weights are replicated: gradients are summed
  fully_sharded,  ///< the same, weights are stored divided: gathered where they are used
  tensor,         ///< the inner width is divided: activations are gathered and scattered
  context,        ///< positions are divided: keys and values are gathered
  expert,         ///< experts are divided: tokens go to theirs and back
  pipeline        ///< layers are divided: activations go from stage to stage
};
inline constexpr int parallelisms = 6;

/// A layer of a transformer, and how many of them there are.
struct transformer_shape {
  std::int64_t width = 0;     ///< of the model, between sublayers
  std::int64_t inner = 0;     ///< of the feed-forward sublayer; of one expert
  int up_products = 1;        ///< from width to inner: 2 with a gate
  std::int64_t heads = 1;     ///< of queries
  std::int64_t kv_heads = 0;  ///< of keys and values; 0: as many as of queries
  std::int64_t head_width = 0;
  std::int64_t layers = 1;
  std::int64_t experts = 1;  ///< of a feed-forward sublayer
  std::int64_t active = 1;   ///< experts that a token goes to
  int element_bytes = 2;     ///< of weights, activations and gradients as they are sent

  [[nodiscard]] constexpr std::int64_t heads_of_keys() const { return kv_heads > 0 ? kv_heads : heads; }

  friend constexpr bool operator==(transformer_shape const&, transformer_shape const&) = default;
};

/// What a step of training is given.
struct token_batch {
  std::int64_t sequences = 1;
  std::int64_t length = 1;

  [[nodiscard]] constexpr std::int64_t tokens() const { return sequences * length; }
  friend constexpr bool operator==(token_batch const&, token_batch const&) = default;
};

/// Devices along the mesh axis of each parallelism; 1: there is none.
struct parallel_ways {
  std::int64_t data = 1;
  std::int64_t fully_sharded = 1;
  std::int64_t tensor = 1;
  std::int64_t context = 1;
  std::int64_t expert = 1;
  std::int64_t stages = 1;

  [[nodiscard]] constexpr std::int64_t of(parallelism p) const {
    std::int64_t const ways[parallelisms] = {data, fully_sharded, tensor, context, expert, stages};
    return ways[static_cast<int>(p)];
  }
  /// The same with other ways of one.
  [[nodiscard]] constexpr parallel_ways with(parallelism p, std::int64_t n) const {
    parallel_ways w = *this;
    std::int64_t* const ways[parallelisms] = {&w.data, &w.fully_sharded, &w.tensor, &w.context, &w.expert, &w.stages};
    *ways[static_cast<int>(p)] = n;
    return w;
  }
  [[nodiscard]] constexpr std::int64_t devices() const {
    return data * fully_sharded * tensor * context * expert * stages;
  }
  friend constexpr bool operator==(parallel_ways const&, parallel_ways const&) = default;
};

/// "data", "fully_sharded", "tensor", "context", "expert", "pipeline": also what a machine's links are called along the
/// mesh axis of each.
[[nodiscard]] constexpr char const* name_of(parallelism p) {
  constexpr char const* names[parallelisms] = {"data", "fully_sharded", "tensor", "context", "expert", "pipeline"};
  return names[static_cast<int>(p)];
}

}  // namespace ostraka
