// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::attention<Q, K/X, D>(q, k, v, os::ring)`: the same mesh axis divides queries and keys. Keys and values
/// travel around the devices, and each device multiplies its queries with those that have arrived.
///
///     q                  k               v               result
///     [B, H, Q_X, D]     [B, H, K_X, D]  [B, H, K_X, D]  [B, H, Q_X, D]      os::ring             n − 1 messages
///     [B, G, R, Q_X, D]  [B, G, K_X, D]  [B, G, K_X, D]  [B, G, R, Q_X, D]   grouped queries: keys of G heads travel
///     …                                                                      os::ring_both_ways   halves up and down
///     …                                                                      os::causal           unseen keys are not
///                                                                            used, nor sent on
///
/// A ring moves as much as gathering keys and values, (n − 1)/n of both, and holds two parts of them instead of n. With
/// os::causal it moves half of that, or three quarters if the sequences are striped, which gives all devices the same
/// work. If the keys are not divided (under rules, say), os::ring has no effect.

#include <cstdint>
#include <type_traits>

#include <ostraka/calls/moves_of_parts.hpp>
#include <ostraka/engine/sequences/attend_in_ring.hpp>
#include <ostraka/engine/sequences/pull_attention_in_ring.hpp>
#include <ostraka/operations/attention/score_operands.hpp>
#include <ostraka/tensors/relabelled.hpp>

namespace ostraka {

/// An option of os::attention: keys and values travel from each device to the next.
struct ring_t {};
inline constexpr ring_t ring{};

/// Half of each part travels to the next device, half to the previous one.
struct ring_both_ways_t {};
inline constexpr ring_both_ways_t ring_both_ways{};

namespace detail {

/// The properties of a ring that are known at compile time. Its moves follow from them.
template <bool Causal, bool Striped, bool BothWays>
struct ring_way {
  template <class Dim, class Labels, class Mesh>
  static constexpr planner::attention_ring ring_of(int queries, int keys, planner::extents const& e) {
    planner::attention_ring r;
    r.queries = e.label[queries];
    r.keys = e.label[keys];
    r.devices = e.ways(mesh_axes_numbered<Mesh>(typename axis_argument<Dim>::mesh{}));
    r.causal = Causal;
    r.striped = Striped;
    r.both_ways = BothWays;
    return r;
  }
  static constexpr bool is_causal = Causal, is_striped = Striped;
};

/// The types of a ring with valid operands.
template <class DimQ, class DimK, class DimD, class TQ, class TK, class TV>
struct ring_types {
  using queries = typename axis_argument<DimQ>::axis;
  using keys = typename axis_argument<DimK>::axis;
  using width = typename axis_argument<DimD>::axis;
  using wide = accumulator_of_t<typename TQ::value_type>;

  using rows = without_axis<sharding_in<TQ>, width>;
  using score_axes = union_of<typename sharding_traits<rows>::axes, type_list<keys>>;
  using values_alone = difference_of<axes_in<TV>, score_axes>;
  using as_queries =
      typename replace_entry<sharding_in<TQ>, width, typename entries_of<sharding_in<TV>, values_alone>::type>::type;

  using result_type = basic_tensor<typename TQ::value_type, varying_as<as_queries, TQ, TK, TV>, typename TQ::space>;
  using log_sums_type = basic_tensor<wide, varying_as<rows, TQ, TK, TV>, typename TQ::space>;

  /// The sharding of a cotangent of A: it has summands over mesh axes that divide queries (of other heads, for example)
  /// that use the same keys or the same bias.
  template <class A, class T = typename A::value_type>
  using cotangent_type = basic_tensor<
      T,
      varying_as<
          canonical_sharding<sharding_in<A>, decltype(summands_over(
                                                 difference_of<typename sharding_traits<sharding_in<TQ>>::splits,
                                                               typename sharding_traits<sharding_in<A>>::splits>{}))>,
          TQ, TK, TV>,
      typename A::space>;

  using labels = union_of<axes_in<TQ>, axes_in<TK>, axes_in<TV>>;
  using mesh = union_of<mesh_axes_in<TQ>, mesh_axes_in<TK>, mesh_axes_in<TV>>;
};

// True if A's axes have the queries' divisions, and axes that the queries lack are undivided.
template <class A, class TQ, class Keys, class... Axes>
consteval bool sharded_as_queries(type_list<Axes...>) {
  return ((std::is_same_v<Axes, Keys> ||
           std::is_same_v<splits_of<Axes, sharding_in<A>>,
                          std::conditional_t<(position_in<Axes, axes_in<TQ>> >= 0), splits_of<Axes, sharding_in<TQ>>,
                                             type_list<>>>)&&...);
}

template <class Operation, class DimQ, class DimK, class DimD, class TQ, class TK, class TV>
consteval auto check_ring() {
  using own = attention_operands_verdict<Operation, DimQ, DimK, DimD, TQ, TK, TV>;
  if constexpr (!std::is_same_v<own, reason::ok>) {
    return found<own>{};
  } else if constexpr (axis_argument<DimK>::mesh::size > 0 &&
                       !std::is_same_v<splits_of<typename axis_argument<DimQ>::axis, sharding_in<TQ>>,
                                       typename axis_argument<DimK>::mesh>) {
    return found<reason::ring_divides_queries_differently<sharding_in<TQ>, sharding_in<TK>>>{};
  } else if constexpr (axis_argument<DimD>::mesh::size > 0 ||
                       !sharded_as_queries<TK, TQ, typename axis_argument<DimK>::axis>(axes_in<TK>{})) {
    return found<reason::ring_divides_heads_differently<sharding_in<TQ>, sharding_in<TK>>>{};
  } else if constexpr (!sharded_as_queries<TV, TQ, typename axis_argument<DimK>::axis>(axes_in<TV>{})) {
    return found<reason::ring_divides_heads_differently<sharding_in<TQ>, sharding_in<TV>>>{};
  } else {
    return found<typename sharding_traits<typename ring_types<DimQ, DimK, DimD, TQ, TK, TV>::as_queries>::verdict>{};
  }
}

/// The members that rings and their derivatives share: where they run, and which tensors travel.
template <class DimQ, class DimK, class DimD, class Way, class TQ, class TK, class TV>
struct ring_of_operands : ring_types<DimQ, DimK, DimD, TQ, TK, TV> {
  using types = ring_types<DimQ, DimK, DimD, TQ, TK, TV>;
  using labels = typename types::labels;
  using mesh = typename types::mesh;
  static constexpr int queries = position_in<typename types::queries, labels>;
  static constexpr int keys = position_in<typename types::keys, labels>;

  static constexpr planner::attention_ring ring(planner::extents const& e) {
    return Way::template ring_of<DimK, labels, mesh>(queries, keys, e);
  }

  // The number of elements of keys, or of values, that all devices together send for a number of indices.
  template <class A>
  static constexpr std::int64_t elements_of(std::int64_t indices, planner::extents const& e) {
    constexpr planner::spec s = spec_of<A, labels, mesh>;
    std::int64_t n = indices;
    for (int i = 0; i < s.rank; ++i) n *= s.label[i] == keys ? 1 : e.label[s.label[i]];
    return n * (e.devices() / e.ways(s.splits()));
  }
  static constexpr std::int64_t bytes_of_all(planner::attention_ring const& r, planner::extents const& e,
                                             bool is_backward) {
    auto const elements = [&](std::int64_t indices) {
      return elements_of<TK>(indices, e) + elements_of<TV>(indices, e);
    };
    return elements(r.keys_sent()) * static_cast<std::int64_t>(sizeof(typename TK::value_type)) +
           (is_backward ? elements(r.cotangents_sent()) * static_cast<std::int64_t>(sizeof(typename types::wide)) : 0);
  }

  /// The widths of a head: of its queries and keys, and of its values.
  static constexpr std::int64_t width_of(planner::extents const& e) {
    return e.label[position_in<typename types::width, labels>];
  }
  static constexpr std::int64_t values_of(planner::extents const& e) {
    return extents_of(typename types::values_alone{}, e);
  }

  /// The flops of a number of pairs of a query and a key, in all batches and heads of the device with the most.
  /// Forward: scores, and weighted values. Backward: both again, and the cotangents of queries, keys and values.
  static constexpr std::int64_t flops_of_pairs(std::int64_t pairs, planner::extents const& e, bool is_backward) {
    constexpr planner::spec s = spec_of<typename types::log_sums_type, labels, mesh>;
    std::int64_t heads = 1;
    for (int i = 0; i < s.rank; ++i) heads *= s.label[i] == queries ? 1 : planner::largest_range(s, i, e);
    std::int64_t const width = width_of(e), values = values_of(e);
    return 2 * heads * pairs * (is_backward ? 3 * width + 2 * values : width + values);
  }

  static engine::ring_attention blocks(engine::execution_context const& w, double scale) {
    planner::attention_ring const r = ring(w.sizes);
    if (Way::is_striped)
      for (int const l : {queries, keys})
        require_stripes("attention", names_of<labels>[static_cast<std::size_t>(l)], {w.sizes.label[l], r.devices});
    return {spec_of<TQ, labels, mesh>,
            spec_of<TK, labels, mesh>,
            spec_of<TV, labels, mesh>,
            spec_of<typename types::result_type, labels, mesh>,
            queries,
            keys,
            position_in<typename types::width, labels>,
            r,
            scale};
  }

 private:
  template <class... Axes>
  static constexpr std::int64_t extents_of(type_list<Axes...>, planner::extents const& e) {
    return (std::int64_t{1} * ... * e.label[position_in<Axes, labels>]);
  }
};

/// The moves of a ring. `Backward`: the cotangents of keys and values travel, too.
template <class Ring, bool Backward>
struct moves_of_ring : moves_by_extents<moves_of_ring<Ring, Backward>, typename Ring::labels, typename Ring::mesh> {
  static constexpr std::int64_t bytes_moved(planner::extents const& e) {
    return Ring::bytes_of_all(Ring::ring(e), e, Backward);
  }
  /// The flops of the device with the most work. Masked products count in full.
  template <class Sizes>
  static constexpr std::int64_t flops(Sizes const& sizes) {
    planner::extents const e = moves_of_ring::named::of(sizes);
    return Ring::flops_of_pairs(Ring::ring(e).most_pairs(), e, Backward);
  }
};

}  // namespace detail

namespace operation {

/// Attention by a ring. `Way`: a detail::ring_way.
template <class Q, class K, class D, class Way>
struct ring_attention : detail::scaled_scores {
  using has_residuals = void;  ///< for each query, the logarithm of the divisor of its weights
  static constexpr char const* name = "attention";
  template <class TQ, class TK, class TV>
  using ring_of = detail::ring_of_operands<Q, K, D, Way, TQ, TK, TV>;

  template <class TQ, class TK, class TV>
  using verdict = typename decltype(detail::check_ring<ring_attention, Q, K, D, TQ, TK, TV>())::type;
  template <class TQ, class TK, class TV>
  using moves = detail::moves_of_ring<ring_of<TQ, TK, TV>, false>;

  template <class How, class TQ, class TK, class TV>
  auto run(How const&, TQ const& q, TK const& k, TV const& v) const {
    using blocks_of = ring_of<TQ, TK, TV>;
    using labels = typename blocks_of::labels;
    using mesh = typename blocks_of::mesh;
    engine::execution_context const w = detail::context_of<labels, mesh>(name, q, k, v);
    engine::ring_attention const blocks = blocks_of::blocks(w, factor_of(q));
    auto const result = detail::allocate_for<typename blocks_of::result_type, labels, mesh>(w, q, k, v);
    auto const log_sums = detail::allocate_for<typename blocks_of::log_sums_type, labels, mesh>(w, q, k, v);
    engine::attend_in_ring(detail::execution_space_of<TQ>(), w, blocks, detail::elements_of(q), detail::elements_of(k),
                           detail::elements_of(v), result.local().data(), log_sums.local().data());
    if constexpr (std::is_same_v<How, detail::with_residuals>)
      return detail::several{result, log_sums};
    else
      return result;
  }

  template <class TQ>
  [[nodiscard]] double factor_of(TQ const& q) const {
    return scale_of(q.extents()[static_cast<std::size_t>(detail::dimension_of<D, TQ>)]);
  }
};

/// The cotangents of queries, keys and values. The derivative rule calls it.
template <class Q, class K, class D, class Way>
struct ring_attention_vjp {
  static constexpr char const* name = "attention_vjp";
  template <class TQ, class TK, class TV>
  using ring_of = detail::ring_of_operands<Q, K, D, Way, TQ, TK, TV>;
  template <class...>
  using verdict = reason::ok;
  template <class TQ, class TK, class TV, class... Others>
  using moves = detail::moves_of_ring<ring_of<TQ, TK, TV>, true>;

  double scale = 1;

  template <class How, class TQ, class TK, class TV, class Result, class LogSums>
  auto run(How const&, TQ const& q, TK const& k, TV const& v, Result const& result, LogSums const& log_sums,
           Result const& g) const {
    using blocks_of = ring_of<TQ, TK, TV>;
    using labels = typename blocks_of::labels;
    using mesh = typename blocks_of::mesh;
    engine::execution_context const w = detail::context_of<labels, mesh>(name, q, k, v, g);
    engine::ring_attention const blocks = blocks_of::blocks(w, scale);
    auto const dq = detail::allocate_for<typename blocks_of::template cotangent_type<TQ>, labels, mesh>(w, q, k, v);
    auto const dk = detail::allocate_for<typename blocks_of::template cotangent_type<TK>, labels, mesh>(w, q, k, v);
    auto const dv = detail::allocate_for<typename blocks_of::template cotangent_type<TV>, labels, mesh>(w, q, k, v);
    engine::pull_attention_in_ring(detail::execution_space_of<TQ>(), w, blocks, detail::elements_of(q),
                                   detail::elements_of(k), detail::elements_of(v), detail::elements_of(result),
                                   detail::elements_of(log_sums), detail::elements_of(g), dq.local().data(),
                                   dk.local().data(), dv.local().data());
    return detail::several{dq, dk, dv};
  }
};

}  // namespace operation

namespace detail {

template <>
inline constexpr bool travels_in_ring<ring_t> = true;
template <>
inline constexpr bool travels_in_ring<ring_both_ways_t> = true;

template <class Q, class K, class D, class Out>
constexpr void set_option(operation::attention<Q, K, D, Out>&, ring_t const&) {}  // the keys are not divided
template <class Q, class K, class D, class Out>
constexpr void set_option(operation::attention<Q, K, D, Out>&, ring_both_ways_t const&) {}

// Sets a scale only. The operation's type has all other options.
template <class Operation, class Option>
constexpr void set_ring_option([[maybe_unused]] Operation& operation, [[maybe_unused]] Option const& option) {
  if constexpr (std::is_same_v<Option, score_scale>) set_option(operation, option);
}

template <class Option>
inline constexpr bool is_option_of_ring =
    travels_in_ring<Option> || std::is_same_v<Option, causal_mask> || std::is_same_v<Option, score_scale>;
template <class... Ms>
inline constexpr bool is_option_of_ring<striped_over<Ms...>> = true;

template <class K, class Operation, class Option>
struct ring_option_verdict {
  using type = std::conditional_t<is_option_of_ring<Option>, reason::ok, reason::not_an_option_of_ring<Option>>;
};
template <class K, class Operation, class... Ms>
struct ring_option_verdict<K, Operation, striped_over<Ms...>> {
  using type = std::conditional_t<std::is_same_v<type_list<Ms...>, typename axis_argument<K>::mesh>, reason::ok,
                                  reason::striped_over_other_axes<striped_over<Ms...>, K, Operation>>;
};

/// Attention with keys and values that travel.
template <class Q, class K, class D, class Out, class... Options>
  requires(axis_argument<K>::mesh::size > 0 && (travels_in_ring<Options> || ...) && !(is_score_option<Options> || ...))
struct attention_with<Q, K, D, Out, Options...> {
  using way = ring_way<(std::is_same_v<Options, causal_mask> || ...), (is_striped<Options> || ...),
                       (std::is_same_v<Options, ring_both_ways_t> || ...)>;
  using operation_type = ostraka::operation::ring_attention<Q, K, D, way>;
  using options_verdict =
      first_fault<std::conditional_t<std::is_void_v<Out>, reason::ok, reason::not_an_option_of_ring<Out>>,
                  typename ring_option_verdict<K, operation_type, Options>::type...>;

  template <class TQ, class TK, class TV>
  static constexpr auto run(TQ const& q, TK const& k, TV const& v, Options const&... options) {
    if constexpr (reason::ok_or_raise<options_verdict>()) {
      operation_type operation;
      (set_ring_option(operation, options), ...);
      return operate(operation, q, k, v);
    } else {
      return q;
    }
  }
};

}  // namespace detail

}  // namespace ostraka
