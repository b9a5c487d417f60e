// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// A decoder-only transformer, written once for all rule sets and attentions, for training and for inference: layers of
/// attention and SwiGLU behind RMS norms, with residuals; the table of tokens is also the last product (tied).
///
///     x[B, S, M] = table[tokens]
///     x += attention(norm(x))                     attention.hpp
///     x += (silu(n · W_gate[N, F]) · (n · W_up[N, F])) · W_down[F, N]      n = norm(x)
///     logits[B, S, V] = norm(x) · tableᵀ

#include <vector>

#include <ostraka/gradient.hpp>
#include <ostraka/operations.hpp>
#include <ostraka/tree.hpp>

#include "attention.hpp"

namespace transformer {

/// A rule set, a kind of attention, and the axes that stack layers: without any, layers stand one by one in a vector;
/// with L, or Q and L, each leaf has the parameters of all layers. Products of one layer of a stack sum over its
/// leading axes of extent 1 (os::sum_over).
template <class Rules, class Attention, auto... Stack>
struct variant {
  using rules = Rules;
  using storage = typename Rules::storage;
  using attention = Attention;
  static constexpr int stacked = sizeof...(Stack);

  /// The dims of the stack's axes in stored parameters.
  static consteval auto stack() { return storage{}(Stack...); }
};

/// The parameters of a layer. Vr: a variant.
template <class Leaves, class Vr>
struct layer {
  static constexpr typename Vr::storage stored{};
  static constexpr auto width = stored(N);
  os::leaf<Leaves, real, width> attention_norm, inner_norm;
  typename Vr::attention::template weights<Leaves, Vr> attention;
  os::leaf<Leaves, real, stored(N, F)> gate, up;
  os::leaf<Leaves, real, stored(F, N)> down;
};

namespace detail {

template <class Leaves, class Vr>
struct layers_in {
  using type = std::vector<layer<Leaves, Vr>>;
};
template <class Leaves, class Vr>
  requires(Vr::stacked > 0)
struct layers_in<Leaves, Vr> {
  using type = layer<os::stacked<Leaves, Vr::stack()>, Vr>;
};

}  // namespace detail

/// The parameters. Files name them layer by layer, also where layers are stacked.
template <class Leaves, class Vr>
struct model {
  static constexpr typename Vr::storage stored{};
  static constexpr auto width = stored(N);
  os::leaf<Leaves, real, stored(V, N)> table;
  typename detail::layers_in<Leaves, Vr>::type layers;
  os::leaf<Leaves, real, width> norm;
};

/// One layer; `attend(w, h)` is attention to the tokens themselves, or to a cache.
template <class How, class Layer, class A, class Attend>
constexpr auto apply(Layer const& l, A const& x, Attend const& attend) {
  constexpr typename How::rules U{};
  constexpr typename How::between O{};
  auto const y = x + attend(l.attention, entering<How>(os::rms_norm<O(M)>(x, gain(l.attention_norm))));
  auto const n = entering<How>(os::rms_norm<O(M)>(y, gain(l.inner_norm)));
  auto const gate = os::silu(How::template product<U(B, S, F)>(n, used<How>(l.gate)));
  auto const inner = gate * How::template product<U(B, S, F)>(n, used<How>(l.up));
  return y + leaving<How>(inner, l.down);
}

/// The input of the first layer; `table` is given as it is used.
template <class How, class Table, class Tokens>
constexpr auto embedded(Table const& table, Tokens const& tokens) {
  constexpr typename How::between U{};
  return os::take<V, U(B, S, M)>(table, tokens);
}

/// The logits from the output of the last layer.
template <class How, class Table, class Gain, class A>
constexpr auto unembedded(Table const& table, Gain const& norm, A const& x) {
  constexpr typename How::rules U{};
  constexpr typename How::between O{};
  return How::template product<U(B, S, V)>(entering<How>(os::rms_norm<O(M)>(x, gain(norm))), table);
}

/// The logits of the next token at each position, [B, S, V]. `attend(layer, w, h)`.
template <class How, class Model, class Tokens, class Attend>
constexpr auto logits(Model const& p, Tokens const& tokens, Attend const& attend) {
  auto const table = os::defer_over<X, Y>(used<How>(p.table));  // one reduction serves the lookup and the product
  auto x = embedded<How>(table, tokens);
  for (std::size_t i = 0; i < p.layers.size(); ++i)
    x = apply<How>(p.layers[i], x, [&](auto const& w, auto const& h) { return attend(i, w, h); });
  return unembedded<How>(table, p.norm, x);
}

/// All positions at once.
template <class Vr, class Model, class Tokens>
constexpr auto logits(Model const& p, Tokens const& tokens) {
  using how = training<typename Vr::rules>;
  return logits<how>(
      p, tokens, [](std::size_t, auto const& w, auto const& h) { return Vr::attention::template at_once<how>(w, h); });
}

/// The mean of −log of the probability that the model gives to the next tokens.
template <class Vr>
struct loss_of {
  template <class Model, class Tokens>
  constexpr auto operator()(Model const& p, Tokens const& tokens, Tokens const& next) const {
    constexpr typename Vr::rules::use U{};
    return os::mean<>(os::cross_entropy<U(V)>(logits<Vr>(p, tokens), next));
  }
};

}  // namespace transformer
