// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Causal self-attention with rotary positions, in two kinds: grouped (G heads of keys and values, R heads of queries
/// for each: R = 1 is multi-head attention) and latent (DeepSeek-V2, 2024, section 2.1). Each kind computes all
/// positions at once, or the next ones with a cache of the positions before.

#include <cmath>
#include <tuple>
#include <type_traits>

#include <ostraka/gradient.hpp>
#include <ostraka/operations.hpp>
#include <ostraka/tree.hpp>

#include "names.hpp"

namespace transformer {

namespace detail {

template <class Rules>
struct between_blocks {
  using between = typename Rules::use;
};
template <class Rules>
  requires requires { typename Rules::between; }
struct between_blocks<Rules> {
  using between = typename Rules::between;
  static constexpr auto summed = Rules::summed;
};

}  // namespace detail

/// The use of weights where all positions are computed at once: they are gathered as the rules of use say. Activations
/// between blocks (sums of residuals, and their norms) have rules of their own, or the rules of use.
template <class Rules>
struct training : detail::between_blocks<Rules> {
  using rules = typename Rules::use;
  using weights = rules;

  template <auto Out, class A, class W>
  static constexpr auto product(A const& a, W const& w) {
    return os::einsum<Out>(a, w, os::sum_over(Q, L));  // a layer of a stack: axes of extent 1
  }
};

/// The use of weights where a text is continued: they stay as they are stored, because for a few positions moving the
/// results of products is cheaper than gathering the weights. Plans are made at run time, for the actual extents.
template <class Rules>
struct decoding {
  using rules = typename Rules::decoding;
  using between = rules;
  using weights = rules;

  template <auto Out, class A, class W>
  static auto product(A const& a, W const& w) {
    return os::einsum<Out>(a, w, os::for_these_sizes);
  }
};

namespace detail {

template <class Rules, class... Axes>
consteval auto divided(os::type_list<Axes...>) {
  return Rules{}(Axes{}...);
}

}  // namespace detail

/// Weights as products use them: with the axis of the activations' width.
template <class How, class W>
constexpr auto used(W const& w) {
  auto const gathered = os::reshard<detail::divided<typename How::weights>(typename W::axes{})>(w);
  if constexpr (os::position_in<N_axis, typename W::axes> >= 0)
    return os::rename<N, M>(gathered);
  else
    return gathered;
}

/// Gains of norms are small, and whole where they are used. The gain of one layer of a stack has leading axes of extent
/// 1.
template <class W>
constexpr auto gain(W const& w) {
  if constexpr (W::axes::size == 1)
    return os::rename<N, M>(os::reshard<N>(w));
  else
    return os::rename<N, M>(os::sum<N>(w));
}

/// The result of a norm, [B, S, M], as products take it. Where weights are divided, each product leaves a part of its
/// cotangent on every device; these parts are added first, and reduced once.
template <class How, class A>
constexpr auto entering(A const& a) {
  constexpr typename How::rules U{};
  constexpr typename How::between O{};
  if constexpr (std::is_same_v<decltype(U(B, S, M)), decltype(O(B, S, M))>)
    return os::defer_over<X, Y>(a);
  else
    return os::defer_over<X, Y>(os::reshard<U(B, S, M)>(a));
}

/// The last product of a block, of a and these weights, [B, S, M], in the sharding of the activations between blocks.
/// Where that differs, its cotangent is gathered once for a and the weights.
template <class How, class A, class W>
constexpr auto leaving(A const& a, W const& w) {
  constexpr typename How::rules U{};
  constexpr typename How::between O{};
  if constexpr (std::is_same_v<decltype(U(B, S, M)), decltype(O(B, S, M))>)
    return How::template product<U(B, S, M)>(a, used<How>(w));
  else
    return os::reshard<O(B, S, M)>(How::template product<U(B, S, M, How::summed)>(a, used<How>(w)));
}

/// Queries or keys, rotated by their positions, which may be in another order; pairs are neighbours.
template <class How, class A>
constexpr auto turned(A const& a, os::from_position at) {
  auto const pairs = os::split<D, I, P>(a);
  if constexpr (requires { How::order; })
    return os::merge<I, P, D>(os::rope<S, I, P>(pairs, How::order, at));
  else
    return os::merge<I, P, D>(os::rope<S, I, P>(pairs, at));
}

/// Attention of all positions to those before, with queries and keys in place, or as How brings them together.
template <class How, class Queries, class Keys, class Values>
constexpr auto attended(Queries const& q, Keys const& k, Values const& v) {
  if constexpr (requires { How::attended(q, k, v); })
    return How::attended(q, k, v);
  else
    return os::attention<S, K, D>(q, k, v, os::causal);
}

/// Multi-head and grouped-query attention.
struct grouped {
  static constexpr char const* name = "grouped";

  template <class Leaves, class Vr>
  struct weights {
    static constexpr typename Vr::storage stored{};
    os::leaf<Leaves, real, stored(N, G, R, D)> q;
    os::leaf<Leaves, real, stored(N, G, D)> k, v;
    os::leaf<Leaves, real, stored(G, R, D, N)> out;
  };

  template <class How, class W, class A>
  static constexpr auto at_once(W const& w, A const& h) {
    auto const [q, k, v] = projected<How>(w, h, {0});
    return leaving<How>(attended<How>(q, k, v), w.out);
  }

  /// An empty cache for this many positions of one sequence in each layer.
  template <class How, class W, class Mesh>
  static auto make_cache(Mesh const& m, W const& w, std::int64_t room) {
    constexpr typename How::rules U{};
    auto const made = os::zeros<real, U(B, K, G, D)>(m, B = 1, K = room, G = w.k.extent(G), D = w.k.extent(D));
    return os::kv_cache{made, os::zeros_like(made)};
  }

  /// Attention for the next positions, whose keys and values it writes to the cache.
  template <class How, class W, class A, class Cache>
  static auto next(W const& w, A const& h, Cache& cache) {
    constexpr typename How::rules U{};
    os::from_position const at{cache.length};
    auto const [q, k, v] = projected<How>(w, h, at);
    os::append<U(K)>(cache, k, v);
    auto const o = os::attention<S, U(K), D>(q, cache.keys, cache.values, os::causal, at);
    return leaving<How>(o, w.out);
  }

 private:
  template <class How, class W, class A>
  static constexpr auto projected(W const& w, A const& h, os::from_position at) {
    constexpr typename How::rules U{};
    auto const q = How::template product<U(B, S, G, R, D)>(h, used<How>(w.q));
    auto const k = How::template product<U(B, S, G, D)>(h, used<How>(w.k));
    auto const v = How::template product<U(B, S, G, D)>(h, used<How>(w.v));
    return std::tuple(turned<How>(q, at), os::rename<S, K>(turned<How>(k, at)), os::rename<S, K>(v));
  }
};

/// Multi-head latent attention: one latent per position makes keys and values of all heads; the heads share the rotary
/// part of keys. The cache holds latents and rotary keys, and attention to it is attention to the latents themselves:
/// the up-projection of keys is applied to the queries, that of values to the result.
struct latent {
  static constexpr char const* name = "latent";

  template <class Leaves, class Vr>
  struct weights {
    static constexpr typename Vr::storage stored{};
    os::leaf<Leaves, real, stored(N, G, D)> q;
    os::leaf<Leaves, real, stored(N, G, I, P)> q_rotary;
    os::leaf<Leaves, real, stored(N, C)> down;
    os::leaf<Leaves, real, stored(N, I, P)> k_rotary;
    os::leaf<Leaves, real, stored(C, G, D)> k, v;
    os::leaf<Leaves, real, stored(G, D, N)> out;
  };

  template <class How, class W, class A>
  static constexpr auto at_once(W const& w, A const& h) {
    constexpr typename How::rules U{};
    auto const [q, q_rotary, latents, k_rotary] = projected<How>(w, h, {0});
    auto const k = How::template product<U(B, K, G, D)>(latents, used<How>(w.k));
    auto const v = How::template product<U(B, K, G, D)>(latents, used<How>(w.v));
    auto const o = os::latent_attention<S, K, D>(q, k, v, q_rotary, k_rotary, os::causal);
    return leaving<How>(o, w.out);
  }

  template <class How, class W, class Mesh>
  static auto make_cache(Mesh const& m, W const& w, std::int64_t room) {
    constexpr typename How::rules U{};
    return os::kv_cache{os::zeros<real, U(B, K, C)>(m, B = 1, K = room, C = w.down.extent(C)),
                        os::zeros<real, U(B, K, I, P)>(m, B = 1, K = room, I = w.k_rotary.extent(I))};
  }

  template <class How, class W, class A, class Cache>
  static auto next(W const& w, A const& h, Cache& cache) {
    constexpr typename How::rules U{};
    os::from_position const at{cache.length};
    auto const [q, q_rotary, latents, k_rotary] = projected<How>(w, h, at);
    os::append<U(K)>(cache, latents, k_rotary);
    auto const to_latents = How::template product<U(B, S, G, C)>(q, used<How>(w.k));
    auto const width = static_cast<double>(w.q.extent(D) + 2 * w.k_rotary.extent(I));
    auto const mixed = os::latent_attention<S, U(K), C>(to_latents, cache.keys, cache.keys, q_rotary, cache.values,
                                                        os::causal, at, os::score_scale(1 / std::sqrt(width)));
    auto const o = How::template product<U(B, S, G, D)>(mixed, used<How>(w.v));
    return leaving<How>(o, w.out);
  }

 private:
  template <class How, class W, class A>
  static constexpr auto projected(W const& w, A const& h, os::from_position at) {
    constexpr typename How::rules U{};
    auto const q = How::template product<U(B, S, G, D)>(h, used<How>(w.q));
    auto const q_rotary = How::template product<U(B, S, G, I, P)>(h, used<How>(w.q_rotary));
    auto const latents = How::template product<U(B, S, C)>(h, used<How>(w.down));
    auto const k_rotary = How::template product<U(B, S, I, P)>(h, used<How>(w.k_rotary));
    return std::tuple(q, os::rope<S, I, P>(q_rotary, at), os::rename<S, K>(latents),
                      os::rename<S, K>(os::rope<S, I, P>(k_rotary, at)));
  }
};

}  // namespace transformer
