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
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ostraka/operations.hpp>

#include "json.hpp"
#include "names.hpp"

namespace hugging_face {

enum class activation { silu, gelu, gelu_tanh, relu };

/// The rotation of queries and keys by their positions.
struct rotation {
  double base = 10000;
  os::rope_scaling scaling{};
};

/// How the tokens of a layer see each other.
struct attending {
  std::int64_t window = every_key;  ///< keys that a query sees, its own included
  rotation rope{};

  static constexpr std::int64_t every_key = std::numeric_limits<std::int64_t>::max();
};

/// The parts that only some models have.
struct model_parts {
  bool norm_bias = false, qkv_bias = false, out_bias = false, mlp_bias = false;
  bool gate = false, head_norms = false, result_norms = false;
  bool positions = false, last = false;
};

struct settings {
  std::string family;  ///< llama, gemma, gpt2 or esm, by the names of their tensors
  std::int64_t key_heads = 0, heads_of_each = 1, head_width = 0;  ///< each head of keys serves so many of queries
  std::int64_t positions = 0;                                     ///< in a sequence, at most
  activation function = activation::silu;
  double epsilon = 1e-6;       ///< of norms
  double gain_offset = 0;      ///< added to the gains of RMS norms
  double embedding_scale = 1;  ///< times the embeddings of tokens
  bool is_causal = true;
  bool is_tied = false;  ///< the table of tokens is also the last product
  bool has_rope = true;
  model_parts has{};
  std::vector<attending> layers{};
  double score_scale = 1;                             ///< times products of queries and keys
  double score_cap = uncapped, logit_cap = uncapped;  ///< Gemma 2: x becomes c · tanh(x / c)
  bool drops_masked_tokens = false;                   ///< ESM-2: their embeddings are 0, and others are scaled
  std::int32_t mask_token = -1, pad_token = -1;
  std::vector<std::int64_t> end_tokens{};

  static constexpr double uncapped = std::numeric_limits<double>::infinity();
};

namespace detail {

inline std::int64_t whole(json const& j, std::string const& path, double otherwise) {
  double const n = j.number(path, otherwise);
  if (!(n >= 0 && n < 1e15) || n != std::floor(n)) j.fail(path + " is no whole number");
  return static_cast<std::int64_t>(n);
}

template <class T>
T one_of(std::map<std::string, T> const& known, std::string const& path, std::string const& word) {
  if (auto const found = known.find(word); found != known.end()) return found->second;
  std::string all;
  for (auto const& [name, value] : known) all += (all.empty() ? "" : ", ") + name;
  throw refusal("config.json: " + path + " is '" + word + "', and this program has " + all);
}

/// Reads a rotation from the object `at`. Its base is `theta` unless the object names one.
inline rotation rotation_in(json const& j, std::string const& at, double theta, std::int64_t positions) {
  auto const number = [&](char const* field, double otherwise) { return j.number(at + field, otherwise); };
  using type = os::rope_type;
  std::map<std::string, type> const known = {{"default", type::plain},
                                             {"linear", type::linear},
                                             {"dynamic", type::dynamic},
                                             {"llama3", type::llama3},
                                             {"yarn", type::yarn}};
  rotation r{number("rope_theta", theta)};
  r.scaling.type = one_of(known, at + "rope_type", j.text(at + "rope_type", j.text(at + "type", "default")));
  r.scaling.factor = number("factor", 1);
  r.scaling.original_max_position_embeddings =
      number("original_max_position_embeddings", static_cast<double>(positions));
  r.scaling.low_freq_factor = number("low_freq_factor", 1);
  r.scaling.high_freq_factor = number("high_freq_factor", 4);
  r.scaling.beta_fast = number("beta_fast", 32);
  r.scaling.beta_slow = number("beta_slow", 1);
  r.scaling.truncate = j.flag(at + "truncate", true);
  r.scaling.attention_factor = number("attention_factor", 0);
  r.scaling.mscale = number("mscale", 0);
  r.scaling.mscale_all_dim = number("mscale_all_dim", 0);
  if (number("partial_rotary_factor", j.number("partial_rotary_factor", 1)) != 1)
    throw refusal("config.json: partial_rotary_factor is not 1, and this program rotates whole heads");
  return r;
}

/// The attention of each layer: from `layer_types`, or the fields that older files of a family have instead; from
/// `rope_parameters` (transformers 5), or `rope_theta` and `rope_scaling` (before). Gemma 3 uses another rotation in
/// layers that have a window.
inline std::vector<attending> layers_of(json const& j, std::string const& type, std::int64_t positions) {
  std::int64_t const count = whole(j, type == "gpt2" ? "n_layer" : "num_hidden_layers", 0);
  if (count > 10'000) throw refusal("config.json: more than 10000 layers");
  bool const is_gemma3 = type == "gemma3_text", is_qwen = type == "qwen2" || type == "qwen3";
  bool const has_window = !j.is_null("sliding_window") && (type == "mistral" || type == "gemma2" || is_gemma3 ||
                                                           (is_qwen && j.flag("use_sliding_window", false)));
  std::int64_t const window = has_window ? whole(j, "sliding_window", 4096) : attending::every_key;
  std::int64_t const whole_layers = whole(j, "max_window_layers", 28);
  std::int64_t const period = std::max<std::int64_t>(1, whole(j, "sliding_window_pattern", is_gemma3 ? 6 : 2));

  bool const is_new = j.has("rope_parameters.rope_theta") || j.has("rope_parameters.full_attention.rope_theta");
  std::string const at = is_new ? "rope_parameters." : "rope_scaling.";
  double const base = j.number("rope_theta", is_gemma3 ? 1e6 : 1e4);
  rotation const of_all = rotation_in(j, is_gemma3 && is_new ? at + "full_attention." : at, base, positions);
  rotation const of_windows = !is_gemma3 ? of_all
                                         : rotation_in(j, "rope_parameters.sliding_attention.",
                                                       j.number("rope_local_base_freq", 1e4), positions);

  std::vector<attending> layers;
  for (std::int64_t i = 0; i < count; ++i) {
    bool const is_sliding = is_qwen ? i >= whole_layers : type == "mistral" || (i + 1) % period != 0;
    std::string const given =
        j.text("layer_types." + std::to_string(i), is_sliding ? "sliding_attention" : "full_attention");
    std::map<std::string, bool> const known = {{"sliding_attention", true}, {"full_attention", false}};
    bool const slides = one_of(known, "layer_types", given) && has_window;
    layers.push_back(slides ? attending{window, of_windows} : attending{attending::every_key, of_all});
  }
  return layers;
}

/// The parts of such a model, as transformers makes it.
inline model_parts parts_of(json const& j, std::string const& type) {
  bool const is_gpt2 = type == "gpt2", is_esm = type == "esm", has_all_biases = is_gpt2 || is_esm;
  bool const may_have_bias = type != "mistral" && type != "qwen2" && j.flag("attention_bias", false);
  return {.norm_bias = has_all_biases,
          .qkv_bias = has_all_biases || type == "qwen2" || may_have_bias,
          .out_bias = has_all_biases || may_have_bias,
          .mlp_bias = has_all_biases || (type == "llama" && j.flag("mlp_bias", false)),
          .gate = !has_all_biases,
          .head_norms = type == "qwen3" || type == "gemma3_text",
          .result_norms = type == "gemma2" || type == "gemma3_text",
          .positions = is_gpt2,
          .last = is_esm};
}

/// The tokens that end a text: one, several or none.
inline std::vector<std::int64_t> end_tokens_of(json const& j) {
  std::vector<std::int64_t> tokens;
  for (int i = 0; j.has("eos_token_id." + std::to_string(i)); ++i)
    tokens.push_back(whole(j, "eos_token_id." + std::to_string(i), 0));
  if (j.has("eos_token_id")) tokens.push_back(whole(j, "eos_token_id", 0));
  return tokens;
}

/// The contents of a file, or nothing if it cannot be read.
inline std::optional<std::string> contents(std::string const& path) {
  std::ifstream in(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (!in) return std::nullopt;
  return text;
}

}  // namespace detail

/// Reads the settings. @throws refusal if the program does not support the configured model
inline settings settings_of(json const& j) {
  using detail::whole;
  std::map<std::string, std::string> const families = {
      {"llama", "llama"},  {"mistral", "llama"},     {"qwen2", "llama"}, {"qwen3", "llama"}, {"gemma", "llama"},
      {"gemma2", "gemma"}, {"gemma3_text", "gemma"}, {"gpt2", "gpt2"},   {"esm", "esm"}};
  std::string const type = j.text("model_type", "");
  settings s;
  s.family = detail::one_of(families, "model_type", type);
  bool const is_gpt2 = type == "gpt2", is_esm = type == "esm", is_gemma = type.starts_with("gemma");
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
  bool const has_gemma_name = j.has("hidden_activation") && is_gemma;
  std::string const path = is_gpt2 ? "activation_function" : has_gemma_name ? "hidden_activation" : "hidden_act";
  s.function = detail::one_of(functions, path,
                              j.text(path, is_gpt2    ? "gelu_new"
                                           : is_esm   ? "gelu"
                                           : is_gemma ? "gelu_pytorch_tanh"
                                                      : "silu"));
  s.epsilon = is_gpt2  ? j.number("layer_norm_epsilon", 1e-5)
              : is_esm ? j.number("layer_norm_eps", 1e-12)
                       : j.number("rms_norm_eps", 1e-6);
  s.is_tied = j.flag("tie_word_embeddings", is_gpt2 || is_esm || is_gemma);
  s.has_rope = !is_gpt2;
  s.has = detail::parts_of(j, type);
  s.layers = detail::layers_of(j, type, s.positions);
  s.score_scale = 1 / std::sqrt(static_cast<double>(s.head_width));
  if (j.flag("use_bidirectional_attention", false))
    throw refusal("config.json: this model is not causal, and this program has ESM-2 alone of these");
  if (type == "gemma") s.function = activation::gelu_tanh;  // as transformers reads "gelu" in older files
  if (s.family == "gemma") {
    s.score_scale = 1 / std::sqrt(j.number("query_pre_attn_scalar", 256));
    auto const cap = [&](char const* name, double of_gemma2) {
      return j.number(name, type == "gemma2" && !j.is_null(name) ? of_gemma2 : settings::uncapped);
    };
    s.score_cap = cap("attn_logit_softcapping", 50);
    s.logit_cap = cap("final_logit_softcapping", 30);
  }
  if (is_gemma) {
    s.gain_offset = 1;
    s.embedding_scale = std::sqrt(static_cast<double>(width));
  }
  if (is_esm) {
    s.is_causal = false;
    s.drops_masked_tokens = j.flag("token_dropout", false);
    s.mask_token = static_cast<std::int32_t>(whole(j, "mask_token_id", 32));
    s.pad_token = static_cast<std::int32_t>(whole(j, "pad_token_id", 1));
    if (j.text("position_embedding_type", "absolute") != "rotary" || j.flag("emb_layer_norm_before", false))
      throw refusal("config.json: this is ESM-1, and this program has ESM-2");
  }
  if (is_gpt2 && (j.flag("scale_attn_by_inverse_layer_idx", false) || !j.flag("scale_attn_weights", true)))
    throw refusal("config.json: the scores of attention are scaled otherwise than in GPT-2");
  s.end_tokens = detail::end_tokens_of(j);
  return s;
}

/// The configuration in the folder of a checkpoint; every process reads it. The tokens that end a text are those of
/// generation_config.json if it has some, as in transformers: a model that was tuned for chats often has more of them
/// there. @throws refusal
inline settings read_settings(std::string const& folder) {
  std::optional<std::string> const text = detail::contents(folder + "/config.json");
  if (!text) throw refusal("the folder " + folder + " has no config.json that can be read");
  settings s = settings_of(json(*text));
  if (std::optional<std::string> const more = detail::contents(folder + "/generation_config.json"))
    if (auto ends = detail::end_tokens_of(json(*more, "generation_config.json")); !ends.empty())
      s.end_tokens = std::move(ends);
  return s;
}

}  // namespace hugging_face
