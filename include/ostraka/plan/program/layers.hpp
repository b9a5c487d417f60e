// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. Programs of the literature (program.hpp): a feed-forward layer, the encoder of ESM2, a decoder with grouped
/// heads. Rules can divide these logical axes independently:
///
///     batch           sequences
///     position        positions of queries within blocks; key: positions of keys; attention needs all keys
///     between         positions between blocks: in norms and residuals
///     width           the model's width between blocks
///     block           the model's width in the input of a block's products
///     rows            the model's width in weights
///     heads, inner    widths within blocks
///     vocabulary
///
///     between/Y: sequence parallel. rows/X: weights are stored divided, and gathered where that is cheapest (fully
///     sharded). position/X: context parallel.

#include <cstdint>

#include <ostraka/plan/program/build.hpp>
#include <ostraka/plan/program/model.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::planner::programs {

namespace detail {

inline void add_axes(program_builder& p, transformer_shape const& m, token_batch const& b) {
  if (m.experts != 1)
    throw_error(
        "programs: these layers have no experts; give experts = 1, or write the program by os::program_builder");
  if (m.up_products != 1 && m.up_products != 2)
    throw_error("programs: a layer has one product to its inner width, or two with a gate; give up_products = 1 or 2");
  p.axis("batch", b.sequences).axis("position", b.length).axis("between", b.length);
  p.axis("width", m.width).axis("block", m.width).axis("rows", m.width).axis("inner", m.inner);
}

// `move_into_block` moves a norm's result to the input of a block's products. `add_to_residual` moves the products'
// sums back and adds them to x.
inline void move_into_block(program_builder& p, std::string const& name, std::string const& norm) {
  p.deferred(join_text(name, "[batch, position, block]"), join_text(norm, "[batch, position, block]"));
}
inline void add_to_residual(program_builder& p, std::string const& sum, std::string const& made, std::string const& x) {
  p.move(join_text(sum, " moved[batch, between, width]"), join_text(made, "[batch, between, width]"));
  p.operation(join_text(sum, "[batch, between, width]"), {x, join_text(sum, " moved")}, {.keeps = false});
}

// Attention to the keys within a window. Each head of keys serves a group of heads of queries. Its derivative computes
// the scores again, five products instead of two.
inline void attention(program_builder& p, transformer_shape const& m, token_batch const& b, std::string_view x,
                      int norm_numbers, bool causal) {
  std::int64_t const groups = m.heads_of_keys();
  p.axis("key", b.length, {.whole = true}).axis("heads", groups);
  if (m.heads % groups != 0)
    throw_error("programs: heads of keys share the heads of queries evenly; give kv_heads that divides heads, or 0");
  if (m.window < 0) throw_error("programs: a window has no negative number of keys; give window = 0 for all keys");
  p.axis("of group", m.heads / groups, {.whole = true}).axis("head width", m.head_width, {.whole = true});
  p.parameter("q[rows, heads, of group, head width]").parameter("k[rows, heads, head width]");
  p.parameter("v[rows, heads, head width]").parameter("out[heads, of group, head width, rows]");
  p.operation("norm[batch, between, width]", {x}, {.flops = 5, .rows = {"width"}, .row_numbers = norm_numbers});
  move_into_block(p, "h", "norm");
  p.einsum("queries[batch, position, heads, of group, head width]", {"h", "q[block, heads, of group, head width]"});
  p.einsum("keys[batch, position, heads, head width]", {"h", "k[block, heads, head width]"});
  p.einsum("values[batch, position, heads, head width]", {"h", "v[block, heads, head width]"});
  p.operation("attended[batch, position, heads, of group, head width]",
              {"queries", "keys[batch, key, heads, head width]", "values[batch, key, heads, head width]"},
              {.flops = 4 * multiplied_share(m, b, causal), .pulled = 2.5, .whole = {"key", "head width"}});
  p.partial_einsum("projected[batch, position, block]", {"attended", "out[heads, of group, head width, block]"});
  add_to_residual(p, "y", "projected", std::string(x));
}

// The products of a feed-forward sublayer, with a gate if it has two products to the inner width.
inline void feed_forward(program_builder& p, transformer_shape const& m, std::string const& h) {
  if (m.up_products == 2) {
    p.einsum("a[batch, position, inner]", {h, "gate[block, inner]"});
    p.einsum("b[batch, position, inner]", {h, "up[block, inner]"});
    p.operation("g[batch, position, inner]", {"a", "b"}, {.flops = 10});
  } else {
    p.einsum("a[batch, position, inner]", {h, "up[block, inner]"});
    p.operation("g[batch, position, inner]", {"a"}, {.flops = 10});
  }
  p.partial_einsum("made[batch, position, block]", {"g", "down[inner, block]"});
}
inline void add_feed_forward_weights(program_builder& p, transformer_shape const& m) {
  if (m.up_products == 2) p.parameter("gate[rows, inner]");
  p.parameter("up[rows, inner]").parameter("down[inner, rows]");
}

}  // namespace detail

/// y = gelu(x · up) · down for all positions of a batch: the literature's running example.
[[nodiscard]] inline program feed_forward(transformer_shape const& m, token_batch const& b) {
  program_builder p("feed-forward layer", m.element_bytes);
  detail::add_axes(p, m, b);
  p.repeat(m.layers).carried("x[batch, between, width]");
  detail::add_feed_forward_weights(p, m);
  detail::move_into_block(p, "h", "x");
  detail::feed_forward(p, m, "h");
  p.move("y[batch, between, width]", "made[batch, between, width]");
  return p;
}

/// The encoder of ESM2: attention and a feed-forward layer after layer norms, with residuals.
[[nodiscard]] inline program encoder(transformer_shape const& m, token_batch const& b) {
  program_builder p("encoder", m.element_bytes);
  detail::add_axes(p, m, b);
  p.repeat(m.layers).carried("x[batch, between, width]");
  detail::attention(p, m, b, "x", 2, false);
  detail::add_feed_forward_weights(p, m);
  p.operation("inner norm[batch, between, width]", {"y"}, {.flops = 5, .rows = {"width"}, .row_numbers = 2});
  detail::move_into_block(p, "n", "inner norm");
  detail::feed_forward(p, m, "n");
  detail::add_to_residual(p, "z", "made", "y");
  return p;
}

/// A decoder: causal attention with grouped heads and, with two products to the inner width, SwiGLU after RMS norms.
/// The logits and their loss follow all layers.
[[nodiscard]] inline program decoder(transformer_shape const& m, token_batch const& b) {
  program_builder p("decoder", m.element_bytes);
  detail::add_axes(p, m, b);
  p.axis("vocabulary", m.vocabulary);
  p.repeat(m.layers).carried("x[batch, between, width]");
  detail::attention(p, m, b, "x", 1, true);
  detail::add_feed_forward_weights(p, m);
  p.operation("inner norm[batch, between, width]", {"y"}, {.flops = 5, .rows = {"width"}});
  detail::move_into_block(p, "n", "inner norm");
  detail::feed_forward(p, m, "n");
  detail::add_to_residual(p, "z", "made", "y");
  p.repeat(1).carried("last[batch, between, width]").parameter("head[rows, vocabulary]");
  p.operation("last norm[batch, between, width]", {"last"}, {.flops = 5, .rows = {"width"}});
  detail::move_into_block(p, "end", "last norm");
  p.einsum("logits[batch, position, vocabulary]", {"end", "head[block, vocabulary]"});
  p.operation("loss[batch, position]", {"logits"}, {.flops = 5, .rows = {"vocabulary"}, .row_numbers = 3});
  return p;
}

}  // namespace ostraka::planner::programs
