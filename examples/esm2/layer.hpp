// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The encoder of ESM2 under two-dimensional rules: batch over X; the model's width, heads and the inner width over Y;
/// the weights' rows over X. Activations are [B_X, S, M_Y] between sublayers, so that layers follow each other.
///
///     h[B_X, S, M]        = all_gather<Y>(layer_norm(x))              once, for queries, keys and values
///     q, k, v[B_X, S, H_Y, D] = h · W[H_Y, D, N_X] + b
///     x += attention(rope(q), rope(k), v) · W_out[H_Y, D, N_X] + b
///     x += gelu(layer_norm(x) · W_up[N_X, F_Y] + b) · W_down[F_Y, N_X] + b
///
/// Products get their operands in one of three ways: as the planner decides, as published, or with weights that stay in
/// place.

#include <vector>

#include <ostraka/gradient.hpp>
#include <ostraka/operations.hpp>
#include <ostraka/tree.hpp>

namespace os = ostraka;

// Plans are made for the extents of the model with 15 billion parameters; a program may use any extents.
OSTRAKA_AXIS(B, os::about(8));      // sequences
OSTRAKA_AXIS(S, os::about(512));    // positions, of queries
OSTRAKA_AXIS(K, os::about(512));    // positions, of keys
OSTRAKA_AXIS(V, os::about(33));     // tokens
OSTRAKA_AXIS(M, os::about(5120));   // the model's width
OSTRAKA_AXIS(N, os::about(5120));   // the same in weights, divided otherwise
OSTRAKA_AXIS(H, os::about(40));     // heads
OSTRAKA_AXIS(D, os::about(128));    // a head's width
OSTRAKA_AXIS(I, os::about(64));     // its frequencies
OSTRAKA_AXIS(P, 2);                 // pairs
OSTRAKA_AXIS(F, os::about(20480));  // the inner width
OSTRAKA_MESH_AXIS(X, os::about(2));
OSTRAKA_MESH_AXIS(Y, os::about(4));

namespace esm2 {

constexpr os::rules<B/X, M/Y, N/X, H/Y, F/Y> rules;

template <auto... Axes>
using tensor = os::tensor_under<rules, float, Axes...>;

using activations = tensor<B, S, M>;
using gathered = os::tensor<float, B/X, S, M>;
using heads = tensor<B, S, H, D>;
using widened = tensor<B, S, F>;

/// The parameters of a layer. Biases and gains are replicated.
template <class Leaves>
struct layer {
  os::leaf<Leaves, float, rules(H, D, N)> q, k, v;
  os::leaf<Leaves, float, H, D> q_bias, k_bias, v_bias;
  os::leaf<Leaves, float, rules(H, D, N)> out;
  os::leaf<Leaves, float, M> out_bias, gain, bias, inner_gain, inner_bias, down_bias;
  os::leaf<Leaves, float, rules(N, F)> up;
  os::leaf<Leaves, float, F> up_bias;
  os::leaf<Leaves, float, rules(F, N)> down;
};

/// The parameters of the encoder.
template <class Leaves>
struct encoder {
  os::leaf<Leaves, float, rules(V, M)> table;
  std::vector<layer<Leaves>> layers;
  os::leaf<Leaves, float, M> gain, bias;
};

/// Weights as products use them: their rows are renamed to the axis of the activations' width.
template <class W>
constexpr auto of_width(W const& weights) {
  return os::rename<N, M>(weights);
}

/// Each product by the plan that is cheapest for it alone.
struct planned {
  template <class A, class W>
  static constexpr auto to_heads(A const& h, W const& w) {
    return os::einsum<B/X, S, H/Y, D>(h, of_width(w));
  }
  template <class A, class W>
  static constexpr auto from_heads(A const& o, W const& w) {
    return os::einsum<B/X, S, M/Y>(o, of_width(w));
  }
  template <class A, class W>
  static constexpr auto up(A const& n, W const& w) {
    return os::einsum<B/X, S, F/Y>(n, of_width(w));
  }
  template <class A, class W>
  static constexpr auto down(A const& f, W const& w) {
    return os::einsum<B/X, S, M/Y>(f, of_width(w));
  }
};

/// As published: every product gathers its weights over X, and gathers its activations or scatters its result over Y.
struct published {
  template <class A, class W>
  static constexpr auto to_heads(A const& h, W const& w) {
    return os::einsum<B/X, S, H/Y, D>(h, os::all_gather<X>(of_width(w)));
  }
  template <class A, class W>
  static constexpr auto from_heads(A const& o, W const& w) {
    return os::reduce_scatter<M/Y>(os::einsum<B/X, S, M, os::partial(Y)>(o, os::all_gather<X>(of_width(w))));
  }
  template <class A, class W>
  static constexpr auto up(A const& n, W const& w) {
    return os::einsum<B/X, S, F/Y>(os::defer_over<Y>(os::all_gather<Y>(n)), os::all_gather<X>(of_width(w)));
  }
  template <class A, class W>
  static constexpr auto down(A const& f, W const& w) {
    return os::reduce_scatter<M/Y>(os::einsum<B/X, S, M, os::partial(Y)>(f, os::all_gather<X>(of_width(w))));
  }
};

/// Weights of the feed-forward sublayer stay in place, in the backward, too: the activations of all sequences come to
/// them (the two-dimensional weight-stationary layout of Pope et al., 2022).
struct stationary : published {
  template <class A, class W>
  static constexpr auto up(A const& n, W const& w) {
    return os::reduce_scatter<B/X>(
        os::einsum<B, S, F/Y, os::partial(X)>(os::defer_over<Y>(os::reshard<B, S, M/X>(n)), of_width(w)));
  }
  template <class A, class W>
  static constexpr auto down(A const& f, W const& w) {
    auto const all = os::defer_over<X>(os::all_gather<X>(f));
    return os::reshard<B/X, S, M/Y>(os::einsum<B, S, M/X, os::partial(Y)>(all, of_width(w)));
  }
};

/// Rotary positions. The two numbers of a pair are half of the head's width apart.
template <class A>
constexpr auto turned(A const& a) {
  return os::merge<P, I, D>(os::rope<S, I, P>(os::split<D, P, I>(a)));
}

/// The output of a layer: attention and the feed-forward sublayer, each behind a layer norm and with a residual. Heads
/// are divided, so attention moves nothing.
template <class Way, class Layer, class A>
constexpr auto apply(Layer const& l, A const& x) {
  auto const h = os::defer_over<Y>(os::all_gather<Y>(os::layer_norm<M/Y>(x, l.gain, l.bias)));
  auto const q = Way::to_heads(h, l.q) + l.q_bias;
  auto const k = Way::to_heads(h, l.k) + l.k_bias;
  auto const v = Way::to_heads(h, l.v) + l.v_bias;
  auto const o = os::attention<S, K, D>(turned(q), os::rename<S, K>(turned(k)), os::rename<S, K>(v));
  auto const y = x + (Way::from_heads(o, l.out) + l.out_bias);

  auto const n = os::layer_norm<M/Y>(y, l.inner_gain, l.inner_bias);
  auto const f = os::gelu(Way::up(n, l.up) + l.up_bias);
  return y + (Way::down(f, l.down) + l.down_bias);
}

/// Applies the layer to tensors, each product as planned.
activations apply(layer<os::values> const& l, activations const& x);

}  // namespace esm2
