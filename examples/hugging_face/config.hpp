// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The settings in a model's config.json. Extents are those of the checkpoint's tensors.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <ostraka/operations.hpp>

#include "json.hpp"
#include "names.hpp"

namespace hugging_face {

enum class activation { silu, gelu, gelu_tanh, relu };

struct settings {
  std::string family;                                             ///< llama, gpt2 or esm, by the names of their tensors
  std::int64_t key_heads = 0, heads_of_each = 1, head_width = 0;  ///< each head of keys serves so many of queries
  std::int64_t positions = 0;                                     ///< in a sequence, at most
  activation function = activation::silu;
  double epsilon = 1e-6;       ///< of norms
  double gain_offset = 0;      ///< added to the gains of RMS norms
  double embedding_scale = 1;  ///< times the embeddings of tokens
  bool is_causal = true;
  bool is_tied = false;  ///< the table of tokens is also the last product
  bool has_rope = true;
  double rope_base = 10000;
  os::rope_scaling rope{};
  bool drops_masked_tokens = false;  ///< ESM-2: their embeddings are 0, and others are scaled
  std::int32_t mask_token = -1;
  std::vector<std::int64_t> end_tokens{};
};

namespace detail {

inline std::int64_t whole(json const& j, std::string const& path, double otherwise) {
  double const n = j.number(path, otherwise);
  if (!(n >= 0 && n < 1e15) || n != std::floor(n)) throw refusal("config.json: " + path + " is no whole number");
  return static_cast<std::int64_t>(n);
}

template <class T>
T one_of(std::map<std::string, T> const& known, std::string const& path, std::string const& word) {
  if (auto const found = known.find(word); found != known.end()) return found->second;
  std::string all;
  for (auto const& [name, value] : known) all += (all.empty() ? "" : ", ") + name;
  throw refusal("config.json: " + path + " is '" + word + "', and this program has " + all);
}

/// `rope_parameters` of transformers 5; `rope_theta` and `rope_scaling` before.
inline void set_rope(settings& s, json const& j) {
  std::string const at = j.has("rope_parameters.rope_theta") ? "rope_parameters." : "rope_scaling.";
  auto const number = [&](char const* field, double otherwise) { return j.number(at + field, otherwise); };
  using type = os::rope_type;
  std::map<std::string, type> const known = {{"default", type::plain},
                                             {"linear", type::linear},
                                             {"dynamic", type::dynamic},
                                             {"llama3", type::llama3},
                                             {"yarn", type::yarn}};
  s.rope.type = one_of(known, at + "rope_type", j.text(at + "rope_type", j.text(at + "type", "default")));
  s.rope_base = j.number("rope_parameters.rope_theta", j.number("rope_theta", 10000));
  s.rope.factor = number("factor", 1);
  s.rope.original_max_position_embeddings =
      number("original_max_position_embeddings", static_cast<double>(s.positions));
  s.rope.low_freq_factor = number("low_freq_factor", 1);
  s.rope.high_freq_factor = number("high_freq_factor", 4);
  s.rope.beta_fast = number("beta_fast", 32);
  s.rope.beta_slow = number("beta_slow", 1);
  s.rope.truncate = j.flag(at + "truncate", true);
  s.rope.attention_factor = number("attention_factor", 0);
  s.rope.mscale = number("mscale", 0);
  s.rope.mscale_all_dim = number("mscale_all_dim", 0);
  if (number("partial_rotary_factor", j.number("partial_rotary_factor", 1)) != 1)
    throw refusal("config.json: partial_rotary_factor is not 1, and this program rotates whole heads");
}

}  // namespace detail

/// @throws refusal if this is no configuration of a model that the program has
inline settings settings_of(json const& j) {
  using detail::whole;
  std::map<std::string, std::string> const families = {{"llama", "llama"}, {"mistral", "llama"}, {"qwen2", "llama"},
                                                       {"qwen3", "llama"}, {"gemma", "llama"},   {"gpt2", "gpt2"},
                                                       {"esm", "esm"}};
  std::string const type = j.text("model_type", "");
  settings s;
  s.family = detail::one_of(families, "model_type", type);
  bool const is_gpt2 = type == "gpt2", is_esm = type == "esm";
  std::int64_t const width = whole(j, is_gpt2 ? "n_embd" : "hidden_size", 0);
  std::int64_t const heads = whole(j, is_gpt2 ? "n_head" : "num_attention_heads", 0);
  s.key_heads = whole(j, "num_key_value_heads", static_cast<double>(heads));
  if (heads < 1 || s.key_heads < 1 || heads % s.key_heads != 0)
    throw refusal("config.json: heads of keys do not divide those of queries");
  s.heads_of_each = heads / s.key_heads;
  s.head_width = whole(j, "head_dim", static_cast<double>(width / heads));
  s.positions = whole(j, is_gpt2 ? "n_positions" : "max_position_embeddings", 2048);

  std::map<std::string, activation> const functions = {{"silu", activation::silu},
                                                       {"gelu", activation::gelu},
                                                       {"gelu_new", activation::gelu_tanh},
                                                       {"gelu_pytorch_tanh", activation::gelu_tanh},
                                                       {"relu", activation::relu}};
  std::string const path = is_gpt2 ? "activation_function" : "hidden_act";
  s.function = detail::one_of(functions, path,
                              j.text(path, is_gpt2           ? "gelu_new"
                                           : is_esm          ? "gelu"
                                           : type == "gemma" ? "gelu_pytorch_tanh"
                                                             : "silu"));
  s.epsilon = is_gpt2  ? j.number("layer_norm_epsilon", 1e-5)
              : is_esm ? j.number("layer_norm_eps", 1e-12)
                       : j.number("rms_norm_eps", 1e-6);
  s.is_tied = j.flag("tie_word_embeddings", is_gpt2 || is_esm || type == "gemma");
  s.has_rope = !is_gpt2;
  if (s.has_rope) detail::set_rope(s, j);
  if (j.flag("use_bidirectional_attention", false))
    throw refusal("config.json: this model is not causal, and this program has ESM-2 alone of these");
  if (type == "gemma") {
    s.function = activation::gelu_tanh;  // transformers reads "gelu" of older files so, too
    s.gain_offset = 1;
    s.embedding_scale = std::sqrt(static_cast<double>(width));
  }
  if (is_esm) {
    s.is_causal = false;
    s.drops_masked_tokens = j.flag("token_dropout", false);
    s.mask_token = static_cast<std::int32_t>(whole(j, "mask_token_id", 32));
    if (j.text("position_embedding_type", "absolute") != "rotary" || j.flag("emb_layer_norm_before", false))
      throw refusal("config.json: this is ESM-1, and this program has ESM-2");
  }
  if (is_gpt2 && (j.flag("scale_attn_by_inverse_layer_idx", false) || !j.flag("scale_attn_weights", true)))
    throw refusal("config.json: the scores of attention are scaled otherwise than in GPT-2");
  if (j.flag("use_sliding_window", type == "mistral") && j.has("sliding_window"))
    s.positions = std::min(s.positions, whole(j, "sliding_window", 0));  // as far as all positions see each other
  for (int i = 0; j.has("eos_token_id." + std::to_string(i)); ++i)
    s.end_tokens.push_back(whole(j, "eos_token_id." + std::to_string(i), 0));
  if (j.has("eos_token_id")) s.end_tokens.push_back(whole(j, "eos_token_id", 0));
  return s;
}

/// The configuration in the folder of a checkpoint; every process reads it. @throws refusal
inline settings read_settings(std::string const& folder) {
  std::ifstream in(folder + "/config.json", std::ios::binary);
  std::string const text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (!in) throw refusal("the folder " + folder + " has no config.json that can be read");
  return settings_of(json(text));
}

}  // namespace hugging_face
