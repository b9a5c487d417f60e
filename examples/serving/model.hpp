// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// A decoder of Llama's shape whose keys and values are in pages. One step takes a batch of tokens, each with the
/// position and the page table of its request: prompts and decoded tokens of many requests together.
///
///     tokens [B, Q = 1], positions [B], table [B, T]  →  logits of the last token of each request, [N, Q, V_Y]
///
/// Heads, the inner width and the vocabulary are divided over Y, pages over X.

#include <cstdint>
#include <vector>

#include <ostraka/operations.hpp>
#include <ostraka/tree.hpp>

namespace os = ostraka;

OSTRAKA_AXIS(B, os::about(64));     // tokens of a step
OSTRAKA_AXIS(N, os::about(16));     // requests of a step
OSTRAKA_AXIS(Q, 1);                 // queries of a token
OSTRAKA_AXIS(V, os::about(32000));  // the vocabulary
OSTRAKA_AXIS(M, os::about(512));    // the model's width
OSTRAKA_AXIS(G, os::about(8));      // heads of keys and values
OSTRAKA_AXIS(R, os::about(1));      // heads of queries for each of them
OSTRAKA_AXIS(D, os::about(64));     // the width of a head
OSTRAKA_AXIS(C, 2);                 // pairs that are rotated
OSTRAKA_AXIS(I, os::about(32));     // frequencies of these rotations
OSTRAKA_AXIS(F, os::about(1408));   // the inner width
OSTRAKA_AXIS(P, os::about(512));    // pages
OSTRAKA_AXIS(S, os::about(16));     // slots of a page
OSTRAKA_AXIS(T, os::about(32));     // pages of a request
OSTRAKA_AXIS(K, os::about(512));    // positions of a cache without pages
OSTRAKA_MESH_AXIS(X, os::about(1));
OSTRAKA_MESH_AXIS(Y, os::about(2));

namespace serving {

using mesh_type = os::mesh<X_mesh, Y_mesh>;

struct extents {
  std::int64_t layers = 2, width = 64, key_heads = 4, query_heads = 2, head = 16, inner = 96, vocabulary = 256;
};

/// The parameters: floats as os::values has them, 16-bit numbers as os::values_of<os::bfloat16>.
template <class L>
struct layer {
  os::leaf<L, float, M> attention_norm, mlp_norm;
  os::leaf<L, float, M, G / Y, R, D> q;
  os::leaf<L, float, M, G / Y, D> k, v;
  os::leaf<L, float, G / Y, R, D, M> out;
  os::leaf<L, float, M, F / Y> gate, up;
  os::leaf<L, float, F / Y, M> down;
};

template <class L>
struct model {
  os::leaf<L, float, V / Y, M> table;
  std::vector<layer<L>> layers;
  os::leaf<L, float, M> norm;
  os::leaf<L, float, M, V / Y> head;
};

/// Maps [0, 1) to numbers around 0 such that sums over `width` of them keep their size.
struct centred {
  float width;
  KOKKOS_FUNCTION float operator()(float v) const { return (2 * v - 1) * std::sqrt(3 / width); }
};

/// A model with random parameters, the same on every mesh.
inline model<os::values> random_model(mesh_type const& m, extents const& e) {
  std::uint64_t seed = 0;
  auto const sizes =
      os::sizes(M = e.width, G = e.key_heads, R = e.query_heads, D = e.head, F = e.inner, V = e.vocabulary);
  auto const make = [&](auto& to, std::int64_t width) {
    using type = std::remove_reference_t<decltype(to)>;
    to = os::map(centred{static_cast<float>(width)}, os::random<type>(m, sizes, os::seed(++seed)));
  };
  model<os::values> p;
  p.layers.resize(static_cast<std::size_t>(e.layers));
  p.norm = os::ones<float, M>(m, sizes);
  make(p.table, 3);
  for (auto& l : p.layers) {
    l.attention_norm = l.mlp_norm = p.norm;
    make(l.q, e.width), make(l.k, e.width), make(l.v, e.width), make(l.out, e.key_heads * e.query_heads * e.head);
    make(l.gate, e.width), make(l.up, e.width), make(l.down, e.inner);
  }
  make(p.head, e.width);
  return p;
}

/// Queries or keys, rotated to their positions.
template <class A, class Positions>
auto turned(A const& a, Positions const& positions) {
  return os::merge<C, I, D>(os::rope<Q, I, C>(os::split<D, C, I>(a), positions));  // pairs half of the width apart
}

/// The logits that follow the last tokens of the requests, rows `last` of the batch. attend(layer, q, k, v) writes keys
/// and values to a cache, and attends to it.
template <class Model, class Tokens, class Positions, class Last, class Attend>
auto logits(Model const& p, Tokens const& tokens, Positions const& positions, Last const& last, Attend const& attend) {
  auto x = os::take<V, B, Q, M>(p.table, tokens, os::in_range);
  for (std::size_t i = 0; i < p.layers.size(); ++i) {
    auto const& l = p.layers[i];
    auto const h = os::rms_norm<M>(x, l.attention_norm);
    auto const q = turned(os::einsum<B, Q, G / Y, R, D>(h, l.q), positions);
    auto const k = turned(os::einsum<B, Q, G / Y, D>(h, l.k), positions);
    auto const y = x + os::einsum<B, Q, M>(attend(i, q, k, os::einsum<B, Q, G / Y, D>(h, l.v)), l.out);
    auto const n = os::rms_norm<M>(y, l.mlp_norm);
    x = y +
        os::einsum<B, Q, M>(os::silu(os::einsum<B, Q, F / Y>(n, l.gate)) * os::einsum<B, Q, F / Y>(n, l.up), l.down);
  }
  return os::einsum<N, Q, V / Y>(os::rms_norm<M>(os::take<B>(x, last, os::in_range), p.norm), p.head);
}

}  // namespace serving
