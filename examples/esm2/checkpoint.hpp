// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Hugging Face's checkpoints of ESM2, of any size and element type, in one file or many: each device reads its blocks.

#include <string>

#include <ostraka/files.hpp>

#include "layer.hpp"

namespace esm2 {

/// The names of the encoder's tensors, and their layout in the file: [out, in], heads and their widths as one
/// dimension.
inline os::stored_as const names_in_file = {
    {"table", "esm.embeddings.word_embeddings.weight"},
    {"layers.{}.q", "esm.encoder.layer.{}.attention.self.query.weight", os::in_tensor{.merged = 2}},
    {"layers.{}.k", "esm.encoder.layer.{}.attention.self.key.weight", os::in_tensor{.merged = 2}},
    {"layers.{}.v", "esm.encoder.layer.{}.attention.self.value.weight", os::in_tensor{.merged = 2}},
    {"layers.{}.q_bias", "esm.encoder.layer.{}.attention.self.query.bias", os::in_tensor{.merged = 2}},
    {"layers.{}.k_bias", "esm.encoder.layer.{}.attention.self.key.bias", os::in_tensor{.merged = 2}},
    {"layers.{}.v_bias", "esm.encoder.layer.{}.attention.self.value.bias", os::in_tensor{.merged = 2}},
    {"layers.{}.out", "esm.encoder.layer.{}.attention.output.dense.weight", os::transposed.merge(2)},
    {"layers.{}.out_bias", "esm.encoder.layer.{}.attention.output.dense.bias"},
    {"layers.{}.gain", "esm.encoder.layer.{}.attention.LayerNorm.weight"},
    {"layers.{}.bias", "esm.encoder.layer.{}.attention.LayerNorm.bias"},
    {"layers.{}.inner_gain", "esm.encoder.layer.{}.LayerNorm.weight"},
    {"layers.{}.inner_bias", "esm.encoder.layer.{}.LayerNorm.bias"},
    {"layers.{}.up", "esm.encoder.layer.{}.intermediate.dense.weight", os::transposed},
    {"layers.{}.up_bias", "esm.encoder.layer.{}.intermediate.dense.bias"},
    {"layers.{}.down", "esm.encoder.layer.{}.output.dense.weight", os::transposed},
    {"layers.{}.down_bias", "esm.encoder.layer.{}.output.dense.bias"},
    {"layers.{}.gain", "esm.encoder.layer.{}.attention.LayerNorm.gamma"},  // the names in files of transformers 5
    {"layers.{}.bias", "esm.encoder.layer.{}.attention.LayerNorm.beta"},
    {"layers.{}.inner_gain", "esm.encoder.layer.{}.LayerNorm.gamma"},
    {"layers.{}.inner_bias", "esm.encoder.layer.{}.LayerNorm.beta"},
    {"gain", "esm.encoder.emb_layer_norm_after.weight"},
    {"bias", "esm.encoder.emb_layer_norm_after.bias"}};

/// Loads the encoder from the folder of a checkpoint, without the head for masked tokens. `number_of_heads` is that of
/// its config.json.
template <class Mesh>
encoder<os::values> load(std::string const& folder, Mesh const& mesh, std::int64_t number_of_heads) {
  return os::load<encoder>(folder, mesh, names_in_file, os::cast_to<float>, os::ignore_others, H = number_of_heads);
}

/// The encoder's result for tokens without masks. Training masked 12 % of the tokens and set their embeddings to 0;
/// without masks all embeddings are reduced by as much.
template <class Way, class Tokens>
activations encoded(encoder<os::values> const& p, Tokens const& tokens) {
  activations x = os::scale(os::take<V, rules(B, S, M)>(p.table, tokens), 1 - 0.15f * 0.8f);
  for (auto const& l : p.layers) x = apply<Way>(l, x);
  return os::layer_norm<M / Y>(x, p.gain, p.bias);
}

}  // namespace esm2
