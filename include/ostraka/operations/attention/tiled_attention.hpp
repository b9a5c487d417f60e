// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Attention to whole keys without a mask, in tiles (engine/sequences/tiles/attend_in_tiles.hpp): no array has
/// the scores' shape. If there are only a few queries, as in a step of decoding, all scores are written as in
/// whole_scores.hpp, unless a single kernel of an accelerator attends (plan/attention/attention_kernel.hpp).
///
///     q [B_X, H_Y, Q, D]   k, v [B_X, H_Y, K, D]   tiles of some queries and some keys of a head       nothing moved

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ostraka/operations/attention/scored_ring_attention.hpp>

namespace ostraka::operation {

template <class Q, class K, class D>
struct tiled_attention : attention<Q, K, D> {
  using attention_type = attention<Q, K, D>;
  using tiles = detail::tiles<attention_type, detail::score_traits{}>;
  static constexpr std::int64_t few_queries = 32;

  /// True if the keys are whole, and heads are divided as in the queries.
  template <class TQ, class TK, class TV>
  static constexpr bool is_tiled = tiles::template are_possible<TQ, TK, TV>();

  [[nodiscard]] constexpr auto in_tiles() const {
    typename tiles::operation_type t;
    static_cast<detail::scaled_scores&>(t) = *this;
    t.is_causal = this->is_causal;
    t.from = this->from;
    return t;
  }

  /// True if there are more than a few queries. All devices agree on the result.
  template <class TQ>
  [[nodiscard]] static constexpr bool are_many(TQ const& q) {
    return q.extents()[static_cast<std::size_t>(detail::dimension_of<Q, TQ>)] > few_queries;
  }

  /// True if a call is computed in tiles.
  template <class TQ, class TK, class TV>
  [[nodiscard]] constexpr bool goes_in_tiles(TQ const& q, TK const& k, TV const& v) const {
    return are_many(q) || in_tiles().is_one_kernel(q, k, v);
  }

  /// The flops of a call. `of_whole`: the flops of whole scores.
  template <class TQ, class TK, class TV>
  [[nodiscard]] constexpr std::int64_t flops_of_call(std::int64_t of_whole, TQ const& q, TK const& k,
                                                     TV const& v) const {
    if constexpr (is_tiled<TQ, TK, TV>)
      if (goes_in_tiles(q, k, v)) return in_tiles().moved(q, k, v).flops;
    return of_whole;
  }

  template <class How, class TQ, class TK, class TV>
  auto run(How const& how, TQ const& q, TK const& k, TV const& v) const {
    if constexpr (is_tiled<TQ, TK, TV>)
      if (goes_in_tiles(q, k, v)) return detail::operate(in_tiles(), q, k, v);
    return attention_type::run(how, q, k, v);
  }
};

}  // namespace ostraka::operation
