// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Rings of attention with options that change its scores (score_options.hpp); and if no mesh axis divides the
/// keys, the same on each device alone, in *tiles*:
///
///     q [B, H, Q_X, D]   k, v [B, H, K_X, D]   os::ring, os::window(w)   parts that no window reaches are neither sent
///                                                                        nor multiplied
///     q [B, H, Q_X, D]   k, v [B, H, K, D]     os::window(w)             tiles of queries, with the keys that they see
///
/// A window is a run-time number, so the price depends on the call and not on types alone: it counts the pairs that the
/// window leaves.

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include <ostraka/engine/sequences/tiles/attend_in_tiles.hpp>
#include <ostraka/engine/sequences/tiles/pull_attention_in_tiles.hpp>
#include <ostraka/operations/attention/ring_attention.hpp>
#include <ostraka/operations/attention/score_operands.hpp>
#include <ostraka/plan/attention/attention_kernel.hpp>

namespace ostraka {

namespace detail {

/// The scores of a ring: the axes of the queries' rows, and all keys.
template <class DimK, class Types, class TQ>
struct ring_scores {
  using sharding_type = with_entries_last<typename Types::rows, typename axis_argument<DimK>::axis>;
  using tensor = basic_tensor<typename Types::wide, varying_as<sharding_type, TQ>, typename TQ::space>;
};

/// A ring, or tiles if K has no mesh axes. `Kinds`: the kinds of the scores' tensors.
template <class Q, class K, class D, class Way, class TQ, class TK, class TV>
struct scored_ring_of : ring_of_operands<Q, K, D, Way, TQ, TK, TV> {
  using base = ring_of_operands<Q, K, D, Way, TQ, TK, TV>;
  using types = typename base::types;
  using scores = typename ring_scores<K, types, TQ>::tensor;
  static constexpr bool is_ring = axis_argument<K>::mesh::size > 0;

  /// The ring of a call, or the tiles of all its queries. Keys that the options hide are neither sent nor multiplied.
  template <class Attention>
  static constexpr planner::attention_ring ring_of_call(planner::extents const& e, Attention const& attention) {
    planner::attention_ring r = base::ring(e);
    r.causal = attention.is_causal;
    r.window = attention.window;
    r.first = attention.first;
    r.first_position = attention.from;
    return r;
  }
  /// The tiles of these queries alone.
  static constexpr planner::attention_ring tiles_of(planner::attention_ring tiles, planner::range own) {
    tiles.queries = own.size();
    tiles.first_position += own.begin;
    return tiles;
  }

  template <class Attention>
  static engine::ring_attention blocks(engine::execution_context const& w, double scale, Attention const& attention) {
    engine::ring_attention p = base::blocks(w, scale);
    p.ring = ring_of_call(w.sizes, attention);
    p.tile = kernel_tile(p.ring, w.sizes);
    if constexpr (!is_ring) p.ring = tiles_of(p.ring, planner::range_of(p.q, p.q.find(base::queries), w.here, w.sizes));
    return p;
  }

  /// The moves of one call.
  template <bool Backward, class Attention, class Sizes>
  static constexpr moves_of_call moved(Attention const& attention, Sizes const& sizes) {
    planner::extents const e = extents_by_name<typename base::labels, typename base::mesh>::of(sizes);
    planner::attention_ring const r = ring_of_call(e, attention);
    std::int64_t const pairs = most_pairs(r, e, Backward ? planner::tile_extents{0, 0} : kernel_tile(r, e));
    return {base::bytes_of_all(r, e, Backward), e.devices(), base::flops_of_pairs(pairs, e, Backward)};
  }

  /// The tile of the single kernel that computes a call on an accelerator (plan/attention/attention_kernel.hpp). There
  /// is no such kernel on the host, for rings, or if products are expected to take less time.
  static constexpr planner::tile_extents kernel_tile(planner::attention_ring const& r, planner::extents const& e) {
    if constexpr (is_ring || is_on_host) {
      return {0, 0};
    } else {
      planner::attention_kernel const kernel{base::width_of(e), base::values_of(e), sizeof(typename types::wide)};
      planner::tile_extents const tile = kernel.tile();
      if (tile.queries == 0) return tile;
      std::int64_t const keys = most_of_queries(r, e, [&](planner::attention_ring const& own, planner::range at) {
        return planner::most_keys_in_tiles(own.seen(), at, own.keys, tile);
      });
      bool const is_short = kernel.is_short(keys);  // else there may be very many tiles to count
      return is_short && kernel.is_small(base::flops_of_pairs(most_pairs(r, e, tile), e, false))
                 ? tile
                 : planner::tile_extents{0, 0};
    }
  }
  /// The same for the operands of a call.
  template <class Attention, class Sizes>
  static constexpr bool is_one_kernel(Attention const& attention, Sizes const& sizes) {
    planner::extents const e = extents_by_name<typename base::labels, typename base::mesh>::of(sizes);
    return kernel_tile(ring_of_call(e, attention), e).queries > 0;
  }

  template <class Labels, class Mesh>
  static constexpr planner::spec spec_of_scores = spec_of<scores, Labels, Mesh>;

  template <score_operand... Kinds, class... Tensors>
  static engine::score_rule<typename types::wide> rule(engine::execution_context const& w,
                                                       planner::attention_ring const& ring, double soft_cap,
                                                       Tensors const&... tensors) {
    using labels = typename base::labels;
    using mesh = typename base::mesh;
    [[maybe_unused]] static constexpr planner::spec s = spec_of_scores<labels, mesh>;
    engine::score_rule<typename types::wide> r;
    r.seen = ring.seen();
    r.from = ring.first_position;
    r.stripes = Way::is_striped ? ring.devices : 0;
    r.soft_cap = static_cast<typename types::wide>(soft_cap);
    (add_to_rule<Kinds>(r, engine::align(w, spec_of<Tensors, labels, mesh>, s, elements_of(tensors))), ...);
    return r;
  }

  /// The cotangents of a tensor that changes scores.
  template <class A>
  using cotangent_of_scores_type = typename types::template cotangent_type<A, typename types::wide>;

 private:
  static constexpr bool is_on_host = engine::runs_on_host<execution_space_type<typename types::result_type>>;

  // The most that f(tiles, positions of the queries) returns for the queries of a device.
  template <class F>
  static constexpr std::int64_t most_of_queries(planner::attention_ring const& r, planner::extents const& e,
                                                F const& f) {
    constexpr planner::spec s = spec_of<TQ, typename base::labels, typename base::mesh>;
    return planner::most_of_blocks(r.queries, e.ways(s.over[s.find(base::queries)]), [&](planner::range block) {
      planner::attention_ring const own = tiles_of(r, block);
      return f(own, planner::range{own.first_position, own.first_position + own.queries});
    });
  }

  // The number of pairs of a query and a key on the device with the most. On accelerators, tiles are those of the
  // kernel, or, without one, a ring of one device.
  static constexpr std::int64_t most_pairs(planner::attention_ring const& r, [[maybe_unused]] planner::extents const& e,
                                           [[maybe_unused]] planner::tile_extents const& of_kernel) {
    if constexpr (is_ring)
      return r.most_pairs();
    else
      return most_of_queries(r, e, [&](planner::attention_ring const& own, planner::range at) {
        if constexpr (is_on_host) return planner::pairs_in_tiles(own.seen(), at, own.keys);
        return of_kernel.queries > 0 ? planner::pairs_in_tiles(own.seen(), at, own.keys, of_kernel) : own.pairs(0);
      });
  }
};

template <class Operation, class Q, class K, class D, class Way, score_operand... Kinds>
struct scored_ring_operands {
  template <class TQ, class TK, class TV, class... Tensors>
  static consteval auto check(type_list<Tensors...>) {
    using own = typename decltype(check_ring<Operation, Q, K, D, TQ, TK, TV>())::type;
    if constexpr (!std::is_same_v<own, reason::ok>)
      return found<own>{};
    else
      return found<first_fault<
          reason::ok, typename decltype(check_score_elements<Operation, Kinds, TQ, Tensors>())::type...,
          typename decltype(check_score_operand<
                            Operation, typename axis_argument<Q>::axis, typename axis_argument<K>::axis,
                            typename scored_ring_of<Q, K, D, Way, TQ, TK, TV>::scores, Kinds, Tensors>())::type...>>{};
  }
};

}  // namespace detail

namespace operation {

/// Attention by a ring, or in tiles, with tensors of these kinds after its operands.
template <class Q, class K, class D, class Way, detail::score_traits Traits, detail::score_operand... Kinds>
struct scored_ring : detail::scaled_scores, detail::score_options {
  using has_residuals = void;  ///< for each query, the logarithm of the divisor of its weights
  static constexpr char const* name = "attention";
  using kinds = detail::score_operands<Kinds...>;
  template <class TQ, class TK, class TV>
  using ring_of = detail::scored_ring_of<Q, K, D, Way, TQ, TK, TV>;

  bool is_causal = Way::is_causal;
  std::int64_t from = 0;  ///< the position of the query of index 0

  template <class TQ, class TK, class TV, class... Tensors>
  using verdict =
      typename decltype(detail::scored_ring_operands<scored_ring, Q, K, D, Way, Kinds...>::template check<TQ, TK, TV>(
          type_list<Tensors...>{}))::type;
  template <class TQ, class TK, class TV, class... Tensors>
  [[nodiscard]] constexpr detail::moves_of_call moved(TQ const& q, TK const& k, TV const& v, Tensors const&...) const {
    return ring_of<TQ, TK, TV>::template moved<false>(*this, detail::sizes_of_call(q, k, v));
  }
  /// True if a single kernel computes the call.
  template <class TQ, class TK, class TV>
  [[nodiscard]] constexpr bool is_one_kernel(TQ const& q, TK const& k, TV const& v) const {
    return ring_of<TQ, TK, TV>::is_one_kernel(*this, detail::sizes_of_call(q, k, v));
  }

  template <class How, class TQ, class TK, class TV, class... Tensors>
  auto run(How const&, TQ const& q, TK const& k, TV const& v, Tensors const&... tensors) const {
    return run_wide<How>(q, k, v, detail::as_score_operand<Kinds>(tensors)...);
  }

  template <class TQ>
  [[nodiscard]] double factor_of(TQ const& q) const {
    return scale_of(q.extents()[static_cast<std::size_t>(detail::dimension_of<D, TQ>)]);
  }

 private:
  template <class How, class TQ, class TK, class TV, class... Tensors>
  auto run_wide(TQ const& q, TK const& k, TV const& v, Tensors const&... tensors) const {
    using blocks_of = ring_of<TQ, TK, TV>;
    using labels = typename blocks_of::labels;
    using mesh = typename blocks_of::mesh;
    engine::execution_context const w = detail::context_of<labels, mesh>(name, q, k, v, tensors...);
    engine::ring_attention const blocks = blocks_of::blocks(w, factor_of(q), *this);
    auto const rule = blocks_of::template rule<Kinds...>(w, blocks.ring, soft_cap, tensors...);
    auto const result = detail::allocate_for<typename blocks_of::result_type, labels, mesh>(w, q, k, v);
    auto const log_sums = detail::allocate_for<typename blocks_of::log_sums_type, labels, mesh>(w, q, k, v);
    auto const attend = [&](auto const& in) {
      in(detail::execution_space_of<TQ>(), w, blocks, detail::elements_of(q), detail::elements_of(k),
         detail::elements_of(v), result.local().data(), log_sums.local().data(), rule);
    };
    if constexpr (blocks_of::is_ring)
      attend([](auto const&... given) { engine::attend_in_ring(given...); });
    else
      attend([](auto const&... given) { engine::attend_in_tiles(given...); });
    if constexpr (std::is_same_v<How, detail::with_residuals>)
      return detail::several{result, log_sums};
    else
      return result;
  }
};

/// The cotangents of queries, keys and values, and optionally of the bias and the sinks.
template <class Forward, class Q, class K, class D, class Way, bool OfBias, bool OfSinks,
          detail::score_operand... Kinds>
struct scored_ring_vjp {
  static constexpr char const* name = "attention_vjp";
  template <class TQ, class TK, class TV>
  using ring_of = detail::scored_ring_of<Q, K, D, Way, TQ, TK, TV>;
  template <class...>
  using verdict = reason::ok;
  template <class TQ, class TK, class TV, class... Others>
  [[nodiscard]] constexpr detail::moves_of_call moved(TQ const& q, TK const& k, TV const& v, Others const&...) const {
    return ring_of<TQ, TK, TV>::template moved<true>(forward, detail::sizes_of_call(q, k, v));
  }

  Forward forward;
  double scale = 1;

  template <class How, class TQ, class TK, class TV, class Result, class LogSums, class... Tensors>
  auto run(How const&, TQ const& q, TK const& k, TV const& v, Result const& result, LogSums const& log_sums,
           Result const& g, Tensors const&... tensors) const {
    return run_wide(q, k, v, result, log_sums, g, detail::as_score_operand<Kinds>(tensors)...);
  }

 private:
  template <class TQ, class TK, class TV, class Result, class LogSums, class... Tensors>
  auto run_wide(TQ const& q, TK const& k, TV const& v, Result const& result, LogSums const& log_sums, Result const& g,
                Tensors const&... tensors) const {
    using blocks_of = ring_of<TQ, TK, TV>;
    using labels = typename blocks_of::labels;
    using mesh = typename blocks_of::mesh;
    using wide = typename blocks_of::types::wide;
    auto const exec = detail::execution_space_of<TQ>();
    engine::execution_context const w = detail::context_of<labels, mesh>(name, q, k, v, g, tensors...);
    engine::ring_attention const blocks = blocks_of::blocks(w, scale, forward);
    auto const rule = blocks_of::template rule<Kinds...>(w, blocks.ring, forward.soft_cap, tensors...);
    auto const dq = detail::allocate_for<typename blocks_of::template cotangent_type<TQ>, labels, mesh>(w, q, k, v);
    auto const dk = detail::allocate_for<typename blocks_of::template cotangent_type<TK>, labels, mesh>(w, q, k, v);
    auto const dv = detail::allocate_for<typename blocks_of::template cotangent_type<TV>, labels, mesh>(w, q, k, v);
    engine::score_rule_cotangents<wide> of_rule;
    auto const made_for = [&]<bool Wanted, detail::score_operand Kind>(engine::score_cotangents<wide>& to) {
      if constexpr (Wanted) {
        auto const& tensor =
            std::get<static_cast<std::size_t>(detail::score_operands<Kinds...>::find(Kind))>(std::tie(tensors...));
        using type = typename blocks_of::template cotangent_of_scores_type<std::remove_cvref_t<decltype(tensor)>>;
        auto const made = detail::allocate_for<type, labels, mesh>(w, q, k, v);
        to = {engine::align(w, spec_of<type, labels, mesh>, blocks_of::template spec_of_scores<labels, mesh>,
                            made.local().data()),
              made.local().data(), static_cast<std::int64_t>(made.local().size())};
        return made;
      } else {
        return 0;
      }
    };
    auto const of_bias = made_for.template operator()<OfBias, detail::score_operand::bias>(of_rule.bias);
    auto const of_sinks = made_for.template operator()<OfSinks, detail::score_operand::sinks>(of_rule.sinks);
    auto const pull = [&](auto const& in) {
      in(exec, w, blocks, detail::elements_of(q), detail::elements_of(k), detail::elements_of(v),
         detail::elements_of(result), detail::elements_of(log_sums), detail::elements_of(g), dq.local().data(),
         dk.local().data(), dv.local().data(), rule, of_rule);
    };
    if constexpr (blocks_of::is_ring)
      pull([](auto const&... given) { engine::pull_attention_in_ring(given...); });
    else
      pull([](auto const&... given) { engine::pull_attention_in_tiles(given...); });
    if constexpr (OfBias && OfSinks)
      return detail::several{dq, dk, dv, of_bias, of_sinks};
    else if constexpr (OfBias)
      return detail::several{dq, dk, dv, of_bias};
    else if constexpr (OfSinks)
      return detail::several{dq, dk, dv, of_sinks};
    else
      return detail::several{dq, dk, dv};
  }
};

}  // namespace operation

namespace detail {

/// Tiles, for attention to undivided keys.
template <class Attention, score_traits Traits, score_operand... Kinds>
struct tiles {
  template <class TQ, class TK, class TV>
  static consteval bool are_possible() {
    return false;
  }
};
template <class Q, class K, class D, score_traits Traits, score_operand... Kinds>
struct tiles<ostraka::operation::attention<Q, K, D, void>, Traits, Kinds...> {
  using operation_type = ostraka::operation::scored_ring<Q, K, D, ring_way<false, false, false>, Traits, Kinds...>;

  template <class TQ, class TK, class TV>
  static consteval bool are_possible() {
    if constexpr (axis_argument<K>::mesh::size > 0 || axis_argument<D>::mesh::size > 0 || Traits.is_striped ||
                  score_operands<Kinds...>::count(score_operand::mask) > 0 ||
                  score_operands<Kinds...>::count(score_operand::positions) > 0)
      return false;
    else
      return std::is_same_v<typename decltype(check_ring<operation_type, Q, K, D, TQ, TK, TV>())::type, reason::ok>;
  }
  template <class Scored>
  static constexpr operation_type of(Scored const& attention) {
    operation_type t;
    static_cast<scaled_scores&>(t) = attention;
    static_cast<score_options&>(t) = attention;
    t.is_causal = attention.is_causal;
    t.from = attention.from;
    return t;
  }
};

template <class Q, class K, class D, class Way, score_traits Traits, score_operand... Kinds>
auto scored_ring_with(score_operands<Kinds...>) -> ostraka::operation::scored_ring<Q, K, D, Way, Traits, Kinds...>;

// Sets a scale, or an option of scores. The other options are in the ring's type.
template <class Operation, class Option>
constexpr void set_scored_ring_option([[maybe_unused]] Operation& operation, [[maybe_unused]] Option const& option) {
  if constexpr (std::is_same_v<Option, score_scale> || is_score_option<Option>) set_option(operation, option);
}

template <class Q, class K, class D, class Out, class... Options>
  requires(axis_argument<K>::mesh::size > 0 && (travels_in_ring<Options> || ...) && (is_score_option<Options> || ...))
struct attention_with<Q, K, D, Out, Options...> {
  using way = ring_way<(std::is_same_v<Options, causal_mask> || ...), (is_striped<Options> || ...),
                       (std::is_same_v<Options, ring_both_ways_t> || ...)>;
  using operation_type =
      decltype(scored_ring_with<
               Q, K, D, way, score_traits{(std::is_same_v<Options, score_cap> || ...), (is_striped<Options> || ...)}>(
          operands_of_options<Options...>{}));
  using options_verdict =
      first_fault<std::conditional_t<std::is_void_v<Out>, reason::ok, reason::not_an_option_of_ring<Out>>,
                  std::conditional_t<is_score_option<Options> && !has_row_positions<Options>, reason::ok,
                                     typename ring_option_verdict<K, operation_type, Options>::type>...,
                  typename decltype(check_each_once<operation_type, Options...>())::type>;

  template <class TQ, class TK, class TV>
  static constexpr auto run(TQ const& q, TK const& k, TV const& v, Options const&... options) {
    if constexpr (reason::ok_or_raise<options_verdict>()) {
      operation_type operation;
      (set_scored_ring_option(operation, options), ...);
      return with_score_operands([&](auto const&... tensors) { return operate(operation, q, k, v, tensors...); },
                                 options...);
    } else {
      return q;
    }
  }
};

}  // namespace detail

}  // namespace ostraka
