// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Context parallelism: X divides the positions of sequences in all layers, and tokens meet only in attention. There
/// keys and values are gathered, or move in a ring:
///
///     gathered        q[B, S_X, G, R, D], k, v[B, K, G, D]       all_gather<X> of k and v; in order, so that the last
///                                                                device has most of the causal work
///     striped ring    q[B, S_X, G, R, D], k, v[B, K_X, G, D]     two parts of k and v at a time, and a quarter of the
///                                                                bytes spared; the same work on all devices
///
/// Heads and widths are divided over Y as tensor parallelism divides them; weights are stored divided over X, too.

#include "../transformer/model.hpp"

namespace transformer {

struct context_parallel {
  static constexpr char const* name = "context";
  using storage = os::rules<N/X, G/Y, F/Y, V/Y>;
  using use = os::rules<S/X, G/Y, F/Y, V/Y>;
};
struct gathered_context : context_parallel {};
struct striped_ring : context_parallel {};

template <>
struct training<gathered_context> : training<context_parallel> {
  template <class Queries, class Keys, class Values>
  static constexpr auto attended(Queries const& q, Keys const& k, Values const& v) {
    auto const whole = [](auto const& a) { return os::reshard<rules{}(B, K, G, D)>(a); };
    return os::attention<S, K, D>(q, whole(k), whole(v), os::causal);
  }
};

template <>
struct training<striped_ring> : training<context_parallel> {
  static constexpr auto order = os::striped<X>;

  template <class Queries, class Keys, class Values>
  static constexpr auto attended(Queries const& q, Keys const& k, Values const& v) {
    return os::attention<S, K/X, D>(q, k, v, os::causal, order, os::ring_both_ways);
  }
};

/// The loss of sequences that are striped first.
template <class Loss>
struct of_stripes {
  template <class Model, class Tokens>
  constexpr auto operator()(Model const& p, Tokens const& tokens, Tokens const& next) const {
    return Loss{}(p, os::stripe<S/X>(tokens), os::stripe<S/X>(next));
  }
};

}  // namespace transformer
