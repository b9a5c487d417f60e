// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The transformer with a mixture of experts in the place of each layer's SwiGLU: a router chooses two experts for each
/// token. Attention sees the mesh axes of the experts as data or context parallelism, because they divide the tokens;
/// they also divide the experts, which never move. Three ways give the same losses:
///
///     dense       every expert computes all tokens, and results of experts that were not chosen do not count: for one
///                 device
///     dropless    any number of rows go to the experts in a ragged all-to-all, and back
///     capacity    each expert takes a fixed number of tokens of a chunk of a sequence: shapes and bytes are known
///                 beforehand

#include <cstddef>
#include <cstdint>
#include <tuple>

#include <ostraka/experts.hpp>

#include "model.hpp"

namespace transformer {

OSTRAKA_AXIS(choice, 2);            // experts of a token
OSTRAKA_AXIS(sent);                 // rows that came to a device
OSTRAKA_AXIS(chunk, os::about(8));  // of a sequence
OSTRAKA_AXIS(place, os::about(4));  // positions of a chunk
OSTRAKA_AXIS(slot, os::about(4));   // of an expert, for a chunk

/// Tokens and experts divided over the same mesh axes: X divides sequences, Y positions.
struct expert_rules {
  static constexpr char const* name = "experts";
  using storage = os::rules<N/X/Y, E/X/Y>;
  using use = os::rules<B/X, S/Y, E/X/Y>;
};
struct expert_parallel : expert_rules {};

/// In a pipeline over Z: experts over X as the batch, and over Y heads, inner widths and the vocabulary.
struct experts_tensor_and_stages {
  static constexpr char const* name = "experts+tensor+stages";
  using storage = os::rules<E/X, G/Y, F/Y, V/Y, L/Z>;
  using use = os::rules<B/X, E/X, G/Y, F/Y, V/Y>;
};

/// Keys and values are gathered where positions are divided.
template <>
struct training<expert_parallel> : training<expert_rules> {
  template <class Queries, class Keys, class Values>
  static constexpr auto attended(Queries const& q, Keys const& k, Values const& v) {
    auto const whole = [](auto const& a) { return os::reshard<rules{}(B, K, G, D)>(a); };
    return os::attention<S, K, D>(q, whole(k), whole(v), os::causal);
  }
};

/// A weight of these axes, as it is used; that of one layer of a stack has leading axes of extent 1.
template <auto... Out, class W>
auto of_one_layer(W const& w) {
  if constexpr (os::position_in<L_axis, typename W::axes> < 0)
    return os::reshard<Out...>(w);
  else
    return os::sum<Out...>(w);
}

/// The function of an expert, by `dot`, the product of each row with its expert's matrix.
inline constexpr auto expert = [](auto const& rows, auto const& dot, auto const& gate, auto const& up,
                                  auto const& down) {
  return dot(os::silu(dot(rows, gate)) * dot(rows, up), down);
};

struct dense {
  template <class How, class Layer, class A, class Routing>
  static auto mixed(Layer const& l, A const& n, Routing const& r) {
    constexpr typename How::rules U{};
    auto const weights = os::scatter_add<E, U(B, S), E>(r.weights, r.experts, E = l.gate.extent(E), os::in_range);
    auto const gate = os::silu(os::einsum<U(B, S), E, F>(n, l.gate));
    auto const inner = gate * os::einsum<U(B, S), E, F>(n, l.up);
    return os::einsum<U(B, S, M)>(inner * weights, l.down);
  }
};

struct dropless {
  template <class How, class Layer, class A, class Routing>
  static auto mixed(Layer const& l, A const& n, Routing const& r) {
    constexpr typename How::rules U{};
    return os::dropless<sent, U(E)>(expert, n, r.experts, r.weights, l.gate, l.up, l.down);
  }
};

/// Groups are chunks of 4 positions, so the dropped tokens do not depend on the mesh. Here an expert has a slot for
/// each token that may come, and drops none.
struct capacity {
  static constexpr std::int64_t positions = 4;

  template <class How, class Layer, class A, class Routing>
  static auto mixed(Layer const& l, A const& n, Routing const& r) {
    constexpr typename How::rules U{};
    auto const chunks = [](auto const& a) { return os::split<S, chunk, place>(a, place = positions); };
    auto const slots = os::assign_slots<E, slot>(chunks(r.experts), E = l.gate.extent(E), slot = positions);
    auto const y = os::with_capacity<U(E)>(expert, chunks(n), slots, chunks(r.weights),
                                           of_one_layer<U(E, M, F)>(l.gate), of_one_layer<U(E, M, F)>(l.up),
                                           of_one_layer<U(E, F, M)>(l.down));
    return os::merge<chunk, place, S>(y);
  }
};

template <class Rules, class Attention, class Mixture, auto... Stack>
struct variant_of_experts : variant<Rules, Attention, Stack...> {
  using mixture = Mixture;
};

/// The parameters of a layer. The parameters of experts have the width of activations, which the experts' mesh axes do
/// not divide.
template <class Leaves, class Vr>
  requires requires { typename Vr::mixture; }
struct layer<Leaves, Vr> {
  static constexpr typename Vr::storage stored{};
  static constexpr auto width = stored(N);
  os::leaf<Leaves, real, width> attention_norm, inner_norm;
  typename Vr::attention::template weights<Leaves, Vr> attention;
  os::leaf<Leaves, real, width, E> router;
  os::leaf<Leaves, real, stored(E, M, F)> gate, up;
  os::leaf<Leaves, real, stored(E, F, M)> down;
};

/// A layer; it also gives the routing, and the logits of the router.
template <class Vr, class Layer, class A>
auto apply_experts(Layer const& l, A const& x) {
  using how = training<typename Vr::rules>;
  constexpr typename how::rules U{};
  auto const y = x + Vr::attention::template at_once<how>(
                         l.attention, entering<how>(os::rms_norm<U(M)>(x, gain(l.attention_norm))));
  auto const n = os::rms_norm<U(M)>(y, gain(l.inner_norm));
  auto const logits = os::einsum<U(B, S), E>(n, os::rename<N, M>(of_one_layer<N, E>(l.router)));
  auto const r = os::route<E, choice>(logits, choice = 2, os::renormalised);
  return std::tuple(y + Vr::mixture::template mixed<how>(l, n, r), r, logits);
}

/// The auxiliary losses of a layer's router.
template <class Routing, class Logits>
auto order_of(Routing const& r, Logits const& logits) {
  return 0.01 * os::load_balance_loss<E>(r) + 0.001 * os::router_z_loss<E>(logits);
}

/// The mean of −log of the probability that the model gives to the next tokens, and, if `Ordered`, the routers' losses.
template <class Vr, bool Ordered = true>
struct loss_of_experts {
  template <class Model, class Tokens>
  auto operator()(Model const& p, Tokens const& tokens, Tokens const& next) const {
    using how = training<typename Vr::rules>;
    constexpr typename how::rules U{};
    auto const table = os::defer_over<X, Y>(used<how>(p.table));
    auto [x, r, logits] = apply_experts<Vr>(p.layers[0], embedded<how>(table, tokens));
    auto order = order_of(r, logits);
    for (std::size_t i = 1; i < p.layers.size(); ++i) {
      auto const [y, more, logits_of_more] = apply_experts<Vr>(p.layers[i], x);
      x = y;
      if constexpr (Ordered) order = order + order_of(more, logits_of_more);
    }
    auto const loss = os::mean<>(os::cross_entropy<U(V)>(unembedded<how>(table, p.norm, x), next));
    if constexpr (Ordered)
      return loss + order;
    else
      return loss;
  }
};

}  // namespace transformer
