// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The names and layouts of the families' tensors in their files; loading and saving.

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <type_traits>

#include <ostraka/files.hpp>

#include "model.hpp"

namespace hugging_face {

namespace detail {

constexpr os::in_tensor one_of_two{.merged = 2};    // [G, D, …] of [G·D, …]
constexpr os::in_tensor one_of_three{.merged = 3};  // [G, R, D, …] of [G·R·D, …]

/// Llama, Mistral, Qwen2, Qwen3, Gemma. Gemma 2 and 3 also normalise the results that a layer adds. A file may contain
/// a tied head, too.
inline os::stored_as llama_names(bool is_tied, bool norms_results) {
  return {
      {"table", "model.embed_tokens.weight"},
      {"norm.weight", "model.norm.weight"},
      {is_tied ? "" : "head.0", "lm_head.weight"},
      {"layers.{}.attention_norm.weight", "model.layers.{}.input_layernorm.weight"},
      {"layers.{}.mlp_norm.weight", norms_results ? "model.layers.{}.pre_feedforward_layernorm.weight"
                                                  : "model.layers.{}.post_attention_layernorm.weight"},
      {norms_results ? "layers.{}.attention_out_norm.0.weight" : "", "model.layers.{}.post_attention_layernorm.weight"},
      {"layers.{}.mlp_out_norm.0.weight", "model.layers.{}.post_feedforward_layernorm.weight"},
      {"layers.{}.q.weight", "model.layers.{}.self_attn.q_proj.weight", one_of_three},
      {"layers.{}.k.weight", "model.layers.{}.self_attn.k_proj.weight", one_of_two},
      {"layers.{}.v.weight", "model.layers.{}.self_attn.v_proj.weight", one_of_two},
      {"layers.{}.out.weight", "model.layers.{}.self_attn.o_proj.weight", os::transposed.merge(3)},
      {"layers.{}.q.bias.0", "model.layers.{}.self_attn.q_proj.bias", one_of_three},
      {"layers.{}.k.bias.0", "model.layers.{}.self_attn.k_proj.bias", one_of_two},
      {"layers.{}.v.bias.0", "model.layers.{}.self_attn.v_proj.bias", one_of_two},
      {"layers.{}.out.bias.0", "model.layers.{}.self_attn.o_proj.bias"},
      {"layers.{}.q_norm.0", "model.layers.{}.self_attn.q_norm.weight"},
      {"layers.{}.k_norm.0", "model.layers.{}.self_attn.k_norm.weight"},
      {"layers.{}.gate.0.weight", "model.layers.{}.mlp.gate_proj.weight"},
      {"layers.{}.gate.0.bias.0", "model.layers.{}.mlp.gate_proj.bias"},
      {"layers.{}.up.weight", "model.layers.{}.mlp.up_proj.weight"},
      {"layers.{}.up.bias.0", "model.layers.{}.mlp.up_proj.bias"},
      {"layers.{}.down.weight", "model.layers.{}.mlp.down_proj.weight", os::transposed},
      {"layers.{}.down.bias.0", "model.layers.{}.mlp.down_proj.bias"},
      {"", "model.layers.{}.self_attn.rotary_emb.inv_freq"}};
}

/// GPT-2, whose files store matrices transposed, and queries, keys and values as one tensor. Older files lack the
/// prefix `transformer.`.
inline os::stored_as gpt2_names(bool is_tied) {
  os::stored_as names = {{is_tied ? "" : "head.0", "lm_head.weight"}};
  for (std::string const begin : {"transformer.", ""}) {
    std::string const h = begin + "h.{}.";
    names.add("table", begin + "wte.weight").add("positions.0", begin + "wpe.weight");
    for (auto const& [leaf, file] : {std::pair("attention_norm", "ln_1"), std::pair("mlp_norm", "ln_2")})
      names.add(std::string("layers.{}.") + leaf + ".weight", h + file + ".weight")
          .add(std::string("layers.{}.") + leaf + ".bias.0", h + file + ".bias");
    names.add("layers.{}.q.weight", h + "attn.c_attn.weight", os::transposed.chunk(0, 3).merge(3))
        .add("layers.{}.k.weight", h + "attn.c_attn.weight", os::transposed.chunk(1, 3).merge(2))
        .add("layers.{}.v.weight", h + "attn.c_attn.weight", os::transposed.chunk(2, 3).merge(2))
        .add("layers.{}.q.bias.0", h + "attn.c_attn.bias", os::chunk(0, 3).merge(3))
        .add("layers.{}.k.bias.0", h + "attn.c_attn.bias", os::chunk(1, 3).merge(2))
        .add("layers.{}.v.bias.0", h + "attn.c_attn.bias", os::chunk(2, 3).merge(2))
        .add("layers.{}.out.weight", h + "attn.c_proj.weight", one_of_three)
        .add("layers.{}.out.bias.0", h + "attn.c_proj.bias")
        .add("layers.{}.up.weight", h + "mlp.c_fc.weight", os::transposed)
        .add("layers.{}.up.bias.0", h + "mlp.c_fc.bias")
        .add("layers.{}.down.weight", h + "mlp.c_proj.weight")
        .add("layers.{}.down.bias.0", h + "mlp.c_proj.bias")
        .add("norm.weight", begin + "ln_f.weight")
        .add("norm.bias.0", begin + "ln_f.bias")
        .add("", h + "attn.bias")
        .add("", h + "attn.masked_bias");
  }
  return names;
}

/// ESM-2 with its head for masked tokens.
inline os::stored_as esm_names(bool is_tied) {
  return {{"table", "esm.embeddings.word_embeddings.weight"},
          {"layers.{}.attention_norm.weight", "esm.encoder.layer.{}.attention.LayerNorm.weight"},
          {"layers.{}.attention_norm.bias.0", "esm.encoder.layer.{}.attention.LayerNorm.bias"},
          {"layers.{}.q.weight", "esm.encoder.layer.{}.attention.self.query.weight", one_of_three},
          {"layers.{}.q.bias.0", "esm.encoder.layer.{}.attention.self.query.bias", one_of_three},
          {"layers.{}.k.weight", "esm.encoder.layer.{}.attention.self.key.weight", one_of_two},
          {"layers.{}.k.bias.0", "esm.encoder.layer.{}.attention.self.key.bias", one_of_two},
          {"layers.{}.v.weight", "esm.encoder.layer.{}.attention.self.value.weight", one_of_two},
          {"layers.{}.v.bias.0", "esm.encoder.layer.{}.attention.self.value.bias", one_of_two},
          {"layers.{}.out.weight", "esm.encoder.layer.{}.attention.output.dense.weight", os::transposed.merge(3)},
          {"layers.{}.out.bias.0", "esm.encoder.layer.{}.attention.output.dense.bias"},
          {"layers.{}.mlp_norm.weight", "esm.encoder.layer.{}.LayerNorm.weight"},
          {"layers.{}.mlp_norm.bias.0", "esm.encoder.layer.{}.LayerNorm.bias"},
          {"layers.{}.up.weight", "esm.encoder.layer.{}.intermediate.dense.weight"},
          {"layers.{}.up.bias.0", "esm.encoder.layer.{}.intermediate.dense.bias"},
          {"layers.{}.down.weight", "esm.encoder.layer.{}.output.dense.weight", os::transposed},
          {"layers.{}.down.bias.0", "esm.encoder.layer.{}.output.dense.bias"},
          {"norm.weight", "esm.encoder.emb_layer_norm_after.weight"},
          {"norm.bias.0", "esm.encoder.emb_layer_norm_after.bias"},
          {"last.0.dense.weight", "lm_head.dense.weight"},
          {"last.0.dense.bias.0", "lm_head.dense.bias"},
          {"last.0.norm.weight", "lm_head.layer_norm.weight"},
          {"last.0.norm.bias.0", "lm_head.layer_norm.bias"},
          {is_tied ? "" : "head.0", "lm_head.decoder.weight"},
          {"head_bias.0", "lm_head.bias"},
          {"contacts.0.weight", "esm.contact_head.regression.weight"},
          {"contacts.0.bias.0", "esm.contact_head.regression.bias"},
          {"", "esm.embeddings.position_ids"},
          {"", "esm.embeddings.position_embeddings.weight"},
          {"layers.{}.attention_norm.weight", "esm.encoder.layer.{}.attention.LayerNorm.gamma"},  // transformers 5
          {"layers.{}.attention_norm.bias.0", "esm.encoder.layer.{}.attention.LayerNorm.beta"},
          {"layers.{}.mlp_norm.weight", "esm.encoder.layer.{}.LayerNorm.gamma"},
          {"layers.{}.mlp_norm.bias.0", "esm.encoder.layer.{}.LayerNorm.beta"},
          {"", "esm.encoder.layer.*"}};  // frequencies of rotations, with the number of a layer or a star
}

}  // namespace detail

inline os::stored_as names_of(settings const& c) {
  if (c.family == "gpt2") return detail::gpt2_names(c.is_tied);
  return c.family == "esm" ? detail::esm_names(c.is_tied) : detail::llama_names(c.is_tied, c.family == "gemma");
}

namespace detail {

/// Refuses a checkpoint that lacks a part of its configuration's model, or has a part that this model lacks: the
/// program would compute another model. @throws refusal
template <class Model>
void check_parts(settings const& c, Model const& p) {
  if (p.layers.size() != c.layers.size())
    throw refusal("config.json says " + std::to_string(c.layers.size()) + " layers, and the checkpoint has " +
                  std::to_string(p.layers.size()));
  auto const check = [](bool has, auto const& part, std::string const& name) {
    if (part.empty() == has)
      throw refusal(std::string("config.json says that the model has ") + (has ? "a " : "no ") + name +
                    ", and the checkpoint has " + (has ? "none" : "one"));
  };
  check(c.has.norm_bias, p.norm.bias, "bias of its last norm");
  check(c.has.positions, p.positions, "table of positions");
  check(c.has.last, p.last, "transform before its head");
  check(c.has.last, p.head_bias, "bias of its head");
  if (c.has.last) {
    check(true, p.last[0].dense.bias, "bias of the transform before its head");
    check(true, p.last[0].norm.bias, "bias of the norm before its head");
  }
  check(!c.is_tied, p.head, "head of its own (lm_head)");
  for (std::size_t i = 0; i < p.layers.size(); ++i) {
    auto const& l = p.layers[i];
    std::string const here = " in layer " + std::to_string(i);
    for (auto const* norm : {&l.attention_norm, &l.mlp_norm})
      check(c.has.norm_bias, norm->bias, "bias of norms" + here);
    check(c.has.result_norms, l.attention_out_norm, "norm after attention" + here);
    check(c.has.result_norms, l.mlp_out_norm, "norm after the MLP" + here);
    check(c.has.qkv_bias, l.q.bias, "bias of queries" + here);
    check(c.has.qkv_bias, l.k.bias, "bias of keys" + here);
    check(c.has.qkv_bias, l.v.bias, "bias of values" + here);
    check(c.has.out_bias, l.out.bias, "bias of attention's last product" + here);
    check(c.has.head_norms, l.q_norm, "norm of queries" + here);
    check(c.has.head_norms, l.k_norm, "norm of keys" + here);
    check(c.has.gate, l.gate, "gate" + here);
    check(c.has.mlp_bias, l.up.bias, "bias in the MLP" + here);
    check(c.has.mlp_bias, l.down.bias, "bias of the MLP's last product" + here);
    if (c.has.gate) check(c.has.mlp_bias, l.gate[0].bias, "bias of the gate" + here);
  }
}

}  // namespace detail

/// Loads the parameters from a folder, in one file or many, of any element type. Each device reads only its blocks.
/// @throws refusal
template <class Rules>
model<os::values, Rules> load_model(std::string const& folder, mesh_type const& m, settings const& c) {
  os::stored_as const names = names_of(c);
  auto p = os::load<model<os::names, Rules>>(folder, m, names, os::cast_to<real>, G = c.key_heads, R = c.heads_of_each,
                                             D = c.head_width);
  detail::check_parts(c, p);
  return p;
}

namespace detail {

/// The text of config.json with the element type of this program: `from_pretrained` converts to the type named there.
inline std::string with_own_type(std::string config) {
  std::string const type = std::is_same_v<real, os::bfloat16>  ? "bfloat16"
                           : std::is_same_v<real, os::float16> ? "float16"
                           : std::is_same_v<real, double>      ? "float64"
                                                               : "float32";
  for (std::string const key : {"\"dtype\"", "\"torch_dtype\""})  // of transformers 5, and before
    if (std::size_t const at = config.find(key); at != config.npos) {
      std::size_t const begin = config.find('"', at + key.size()), end = config.find('"', begin + 1);
      if (end != config.npos && config.find_first_not_of(" \t\r\n:", at + key.size()) == begin)
        config.replace(begin + 1, end - begin - 1, type);
    }
  return config;
}

/// Copies the configuration, the tokenizer and the chat template.
inline void copy_small_files(std::string const& from, std::string const& folder) {
  namespace fs = std::filesystem;
  std::error_code fault;  // ignored: os::save reports a missing folder on all devices
  fs::create_directories(folder, fault);
  for (fs::directory_entry const& file : fs::directory_iterator(from, fault)) {
    std::string const name = file.path().filename().string(), end = file.path().extension().string();
    fs::path const copy = fs::path(folder) / name;
    if (!file.is_regular_file(fault) || name.ends_with(".index.json")) continue;
    if (name == "config.json") {
      std::string const config = with_own_type(contents(file.path().string()).value_or(""));
      if (contents(copy.string()) != config) std::ofstream(copy, std::ios::binary) << config;
    } else if (end == ".json" || end == ".model" || end == ".txt" || end == ".jinja") {
      fs::copy_file(file.path(), copy, fs::copy_options::overwrite_existing, fault);
    }
  }
}

}  // namespace detail

/// Saves the parameters so that `from_pretrained(folder)` reads them, with the configuration and the tokenizer of the
/// folder that they come from.
template <class Rules>
void save_model(std::string const& folder, std::string const& from, mesh_type const& m, settings const& c,
                model<os::values, Rules> const& p) {
  if (m.device() == 0) detail::copy_small_files(from, folder);
  os::save(folder, p, names_of(c), os::in_parts_of(5'000'000'000));
}

}  // namespace hugging_face
