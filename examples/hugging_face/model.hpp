// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// One transformer for Llama, Mistral, Qwen2 and Qwen3, Gemma 1 to 3, GPT-2 and ESM-2: the tensors that a checkpoint
/// has or lacks determine which of them it is.
///
///     x[B, S, M] = table[tokens]
///     x += attention(norm(x))
///     x += (f(n · W_gate) · (n · W_up)) · W_down        n = norm(x); without a gate f(n · W_up) · W_down
///     logits[B, S, V] = norm(x) · headᵀ

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <ostraka/gradient.hpp>
#include <ostraka/operations.hpp>
#include <ostraka/tree.hpp>

#include "config.hpp"
#include "names.hpp"

namespace hugging_face {

/// A part that some models have: none, or one.
template <class Part>
using maybe = std::vector<Part>;

template <class L, auto Weight, auto Bias>
struct linear {
  os::leaf<L, real, Weight> weight;
  maybe<os::leaf<L, real, Bias>> bias;
};

/// The parameters of a layer, stored as the rules say.
template <class L, class Rules>
struct layer {
  static constexpr typename Rules::storage stored{};
  linear<L, M, M> attention_norm, mlp_norm;                 // with a bias it is a layer norm, without one an RMS norm
  maybe<linear<L, M, M>> attention_out_norm, mlp_out_norm;  // Gemma 2 and 3
  linear<L, stored(G, R, D, M), stored(G, R, D)> q;
  linear<L, stored(G, D, M), stored(G, D)> k, v;
  linear<L, stored(G, R, D, M), M> out;
  maybe<os::leaf<L, real, D>> q_norm, k_norm;  // Qwen3, Gemma 3
  maybe<linear<L, stored(F, M), stored(F)>> gate;
  linear<L, stored(F, M), stored(F)> up;
  linear<L, stored(F, M), M> down;
};

/// ESM-2's last layer before its logits.
template <class L, class Rules>
struct transform {
  static constexpr typename Rules::storage stored{};
  linear<L, stored(N, M), N> dense;
  linear<L, M, M> norm;
};

template <class L, class Rules>
struct model {
  static constexpr typename Rules::storage stored{};
  os::leaf<L, real, stored(V, M)> table;
  maybe<os::leaf<L, real, stored(T, M)>> positions;  // GPT-2
  std::vector<layer<L, Rules>> layers;
  linear<L, M, M> norm;
  maybe<transform<L, Rules>> last;
  maybe<os::leaf<L, real, stored(V, M)>> head;  // none: the table
  maybe<os::leaf<L, real, stored(V)>> head_bias;
  maybe<linear<L, stored(O, C), O>> contacts;  // ESM-2's, which this program keeps and does not use
};

/// All positions at once: weights that are stored divided are gathered.
template <class Rules>
struct at_once {
  using rules = typename Rules::use;

  template <class... Axes>
  static consteval auto divided(os::type_list<Axes...>) {
    return rules{}(Axes{}...);
  }
  template <class W>
  static auto weight(W const& w) {
    return os::reshard<divided(typename W::axes{})>(w);
  }
  template <auto Out, class A, class W>
  static auto product(A const& a, W const& w) {
    return os::einsum<Out>(a, weight(w));
  }
};

/// The next positions of a text: weights stay as they are stored, and the planner decides what to move when it knows
/// the extents.
template <class Rules>
struct with_caches {
  using rules = typename Rules::decoding;

  template <class W>
  static auto weight(W const& w) {
    return w;
  }
  template <auto Out, class A, class W>
  static auto product(A const& a, W const& w) {
    return os::einsum<Out>(a, w, os::for_these_sizes);
  }
};

template <class How, auto Out, class Linear, class A>
auto projected(Linear const& l, A const& a) {
  auto const y = How::template product<Out>(a, l.weight);
  return l.bias.empty() ? y : y + l.bias[0];
}

/// An operand of several products, whose cotangent is reduced once for all of them.
template <class A>
auto shared(A const& a) {
  return os::defer_over<X, Y>(a);
}

/// Converts 16-bit numbers to floats; other numbers stay as they are.
template <class A>
auto in_float(A const& a) {
  using number = os::accumulator_of_t<typename A::value_type>;
  if constexpr (std::is_same_v<number, typename A::value_type>)
    return a;
  else
    return os::cast<number>(a);
}

/// The gain of an RMS norm. In Gemma it is 1 + w, which needs more digits than w.
template <class W>
auto gain_of(settings const& c, W const& w) {
  return in_float(w) + static_cast<os::accumulator_of_t<real>>(c.gain_offset);
}

template <class Norm, class A>
auto normed(settings const& c, Norm const& norm, A const& x) {
  if (!norm.bias.empty()) return os::layer_norm<M>(x, norm.weight, norm.bias[0], os::epsilon(c.epsilon));
  return os::rms_norm<M>(x, gain_of(c, norm.weight), os::epsilon(c.epsilon));
}

template <class A>
auto activated(settings const& c, A const& a) {
  switch (c.function) {
    case activation::silu:
      return os::silu(a);
    case activation::gelu:
      return os::gelu(a);
    case activation::gelu_tanh:
      return os::gelu_tanh(a);
    case activation::relu:
      break;
  }
  return os::relu(a);
}

/// c · tanh(a / c), or a if nothing is capped.
template <class A>
auto capped(double cap, A const& a) {
  if (cap == settings::uncapped) return a;
  return os::scale(os::tanh(os::scale(a, static_cast<real>(1 / cap))), static_cast<real>(cap));
}

/// Queries or keys from position `from` on, normed and rotated if the model does so.
template <class A, class Gain>
auto turned(settings const& c, rotation const& r, A const& given, maybe<Gain> const& gain, std::int64_t from) {
  auto const a = gain.empty() ? given : os::rms_norm<D>(given, gain_of(c, gain[0]), os::epsilon(c.epsilon));
  if (!c.has_rope) return a;
  os::rope_scaling scaling = r.scaling;
  scaling.positions = static_cast<double>(from + a.extent(S));
  auto const pairs = os::split<D, P, I>(a);  // a half of the width apart
  return os::merge<P, I, D>(os::rope<S, I, P>(pairs, os::from_position{from}, os::rope_base{r.base}, scaling));
}

/// The result of attention or the MLP, before it is added to the residual stream: normed if the model does so.
template <class Norm, class A>
auto added(settings const& c, maybe<Norm> const& norm, A const& a) {
  return norm.empty() ? a : normed(c, norm[0], a);
}

/// A layer; `attend(q, k, v)` is attention to the tokens themselves, or to a cache.
template <class How, class Layer, class A, class Attend>
auto apply(settings const& c, rotation const& r, Layer const& l, A const& x, std::int64_t from, Attend const& attend) {
  constexpr typename How::rules U{};
  auto const h = shared(normed(c, l.attention_norm, x));
  auto const q = turned(c, r, projected<How, U(B, S, G, R, D)>(l.q, h), l.q_norm, from);
  auto const k = turned(c, r, projected<How, U(B, S, G, D)>(l.k, h), l.k_norm, from);
  auto const v = projected<How, U(B, S, G, D)>(l.v, h);
  auto const seen = attend(q, os::rename<S, K>(k), os::rename<S, K>(v));
  auto const y = x + added(c, l.attention_out_norm, projected<How, U(B, S, M)>(l.out, seen));

  auto const n = shared(normed(c, l.mlp_norm, y));
  auto const up = projected<How, U(B, S, F)>(l.up, n);
  auto const inner = l.gate.empty() ? activated(c, up) : activated(c, projected<How, U(B, S, F)>(l.gate[0], n)) * up;
  return y + added(c, l.mlp_out_norm, projected<How, U(B, S, M)>(l.down, inner));
}

/// The input of the first layer.
template <class How, class Model, class Table, class Tokens>
auto embedded(settings const& c, Model const& p, Table const& table, Tokens const& tokens, std::int64_t from) {
  constexpr typename How::rules U{};
  auto x = os::take<V, U(B, S, M)>(table, tokens);
  if (c.embedding_scale != 1) x = os::scale(x, static_cast<real>(c.embedding_scale));
  if (c.drops_masked_tokens) {  // in training, 12 % of the tokens were masks
    auto const kept = os::cast<real>(tokens != c.mask_token);
    x = x * (kept * (static_cast<real>(1 - 0.15 * 0.8) / os::mean_where<U(B)>(kept, tokens != c.pad_token)));
  }
  if (!c.is_causal) x = x * os::cast<real>(tokens != c.pad_token);
  if (!p.positions.empty()) {
    auto const here = os::window<T>(p.positions[0], from, from + tokens.extent(S));
    x = x + os::rename<T, S>(os::reshard<U(T, M)>(here));
  }
  return x;
}

/// The logits of each position, [B, S, V], of tokens from position `from` on. `attend(layer, q, k, v)`. @throws refusal
template <class How, class Model, class Tokens, class Attend>
auto logits(settings const& c, Model const& p, Tokens const& tokens, std::int64_t from, Attend const& attend) {
  constexpr typename How::rules U{};
  if (from + tokens.extent(S) > c.positions)
    throw refusal("the model sees " + std::to_string(c.positions) + " positions at once, and a sequence has more");
  auto const table = shared(How::weight(p.table));
  auto x = embedded<How>(c, p, table, tokens, from);
  for (std::size_t i = 0; i < p.layers.size(); ++i)
    x = apply<How>(c, c.layers[i].rope, p.layers[i], x, from,
                   [&](auto const& q, auto const& k, auto const& v) { return attend(i, q, k, v); });
  x = normed(c, p.norm, x);
  if (!p.last.empty()) {
    auto const t = os::rename<N, M>(projected<How, U(B, S, N)>(p.last[0].dense, shared(x)));
    x = normed(c, p.last[0].norm, activated(c, t));
  }
  auto const y = How::template product<U(B, S, V)>(shared(x), p.head.empty() ? table : shared(How::weight(p.head[0])));
  return capped(c.logit_cap, p.head_bias.empty() ? y : y + p.head_bias[0]);
}

/// Attention of a causal layer; `cached` is os::from_position where the keys are a cache.
template <auto Keys, class Q, class KV, class... Cached>
auto causal_attention(settings const& c, attending const& layer, Q const& q, KV const& k, KV const& v,
                      Cached const&... cached) {
  os::score_scale const scale{c.score_scale};
  if (layer.window == attending::every_key && c.score_cap == settings::uncapped)
    return os::attention<S, Keys, D>(q, k, v, os::causal, cached..., scale);
  return os::attention<S, Keys, D>(q, k, v, os::causal, cached..., scale, os::window(layer.window),
                                   os::soft_cap(c.score_cap));
}

/// All positions of whole sequences.
template <class Rules, class Model, class Tokens>
auto logits(settings const& c, Model const& p, Tokens const& tokens) {
  return logits<at_once<Rules>>(c, p, tokens, 0, [&](std::size_t i, auto const& q, auto const& k, auto const& v) {
    return c.is_causal ? causal_attention<K>(c, c.layers[i], q, k, v)
                       : os::attention<S, K, D>(q, k, v, os::rename<S, K>(tokens != c.pad_token));
  });
}

/// The label of positions that have no part in the loss, as in transformers.
inline constexpr std::int32_t no_label = -100;

/// The mean of −log of the probability that the model gives to the labels.
template <class Rules>
struct loss_of {
  settings const& c;

  template <class Model, class Tokens>
  auto operator()(Model const& p, Tokens const& tokens, Tokens const& labels) const {
    constexpr typename Rules::use U{};
    auto const each = os::cross_entropy<U(V)>(in_float(logits<Rules>(c, p, tokens)), labels, os::ignore(no_label));
    return os::mean_where<>(each, labels != no_label);
  }
};

}  // namespace hugging_face
