// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The encoder layer of ESM2 under two-dimensional rules: batch over X; the model's width, heads and the inner width
/// over Y; the weights' rows over X. Activations are [B_X, S, M_Y] between sublayers, so that layers follow each other.
///
///     h[B_X, S, M]        = all_gather<Y>(layer_norm(x))              once, for queries, keys and values
///     q, k, v[B_X, S, H_Y, D] = h · W[N_X, H_Y, D] + b                weights are gathered over X
///     x += attention(rope(q), rope(k), v) · W_out[H_Y, D, N_X] + b    gathered over X, scattered over Y
///     x += gelu(layer_norm(x) · W_up[N_X, F_Y] + b) · W_down[F_Y, N_X] + b

#include <ostraka/operations.hpp>

namespace os = ostraka;

// Plans are made for the extents of the model with 15 billion parameters; programs may have any.
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

constexpr os::rules<B/X, M/Y, N/X, H/Y, F/Y> rules;

template <auto... Axes>
using tensor = os::tensor_under<rules, float, Axes...>;

using activations = tensor<B, S, M>;
using gathered = os::tensor<float, B/X, S, M>;
using heads = tensor<B, S, H, D>;
using widened = tensor<B, S, F>;

/// The parameters of a layer. Biases and gains are replicated.
struct layer {
  tensor<N, H, D> q, k, v;
  os::tensor<float, H, D> q_bias, k_bias, v_bias;
  tensor<H, D, N> out;
  os::tensor<float, M> out_bias, gain, bias, inner_gain, inner_bias, down_bias;
  tensor<N, F> up;
  os::tensor<float, F> up_bias;
  tensor<F, N> down;
};

/// Weights where they meet activations: their rows are the model's width.
template <class W>
auto of_width(W const& weights) {
  return os::rename<N, M>(weights);
}
template <class W>
using of_width_t = decltype(of_width(std::declval<W const&>()));

/// What a layer makes of its input.
activations apply(layer const& l, activations const& x);
