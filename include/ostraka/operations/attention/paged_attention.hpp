// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::attention<Q, S, D>(q, k, v, os::pages<P/X>(table), os::causal, os::from_positions(t))`: attention to
/// keys and values in pages of a pool, which are read in place (PagedAttention). P: pages, S: slots of a page.
///
///     q [B, Q, G_Y, R, D]   k, v [P, S, G_Y, D]     table [B, T], t [B]    → as q     nothing moved
///     q [B, Q, G, R, D]     k, v [P_X, S, G, D]     the same               → as q     all-reduces over X, as of K/X:
///                                                      for each query a maximum, a sum and the weighted sum of values
///
/// A batch of tokens, each with the table and the position of its request, is the same with Q = 1: prompts and decoded
/// tokens of many requests are in one call.

#include <cstdint>
#include <type_traits>

#include <ostraka/engine/divided_rows/combine_statistics.hpp>
#include <ostraka/engine/sequences/attend_to_pages.hpp>
#include <ostraka/operations/attention/score_options.hpp>
#include <ostraka/operations/indices/pages.hpp>

namespace ostraka {

namespace detail {

/// The types of an attention to pages with valid operands.
template <class DimQ, class DimD, class ToldP, class TQ, class TK, class Table, class Positions>
struct paged_types {
  using wide = accumulator_of_t<typename TQ::value_type>;
  using width = typename axis_argument<DimD>::axis;
  using pages_over = typename axis_argument<ToldP>::mesh;
  static constexpr bool is_divided = pages_over::size > 0;

  using labels = union_of<axes_in<TQ>, axes_in<TK>, axes_in<Table>>;
  using mesh = union_of<mesh_axes_in<TQ>, mesh_axes_in<TK>, mesh_axes_in<Table>, mesh_axes_in<Positions>>;
  using rows = without_axis<sharding_in<TQ>, width>;
  /// The mesh axes along which blocks of a body may differ in extents, so that positions may be in range on some
  /// devices only.
  using blocks = union_of<varying_in<TQ>, varying_in<TK>, varying_in<Table>>;

  template <class... Ms>
  static auto in_parts(type_list<Ms...>) -> canonical_sharding<sharding_in<TQ>, partial_sum<Ms...>>;
  static auto in_parts(type_list<>) -> sharding_in<TQ>;
  template <class Sharding>
  using made = basic_tensor<wide, varying_as<Sharding, TQ, TK, Table, Positions>, typename TQ::space>;
  using local = made<decltype(in_parts(pages_over{}))>;
  using result = made<sharding_in<TQ>>;
};

template <class Operation, class DimQ, class S, class DimD, class ToldP, class TQ, class TK, class TV, class Table,
          class Positions>
consteval auto check_pages() {
  using own = first_fault<
      typename sharding_traits<sharding_in<TQ>>::verdict, typename sharding_traits<sharding_in<TK>>::verdict,
      typename sharding_traits<sharding_in<TV>>::verdict, bare_axis_verdict<Operation, DimQ, TQ>,
      axis_argument_verdict<Operation, DimD, TQ>, axis_argument_verdict<Operation, DimD, TK>,
      axis_argument_verdict<Operation, ToldP, TK>, axis_argument_verdict<Operation, S, TK>,
      elements_verdict<TQ, TK, TV>, fractions_verdict<Operation, TQ>, whole_values_verdict<Operation, TQ>,
      whole_values_verdict<Operation, TK>, whole_values_verdict<Operation, TV>, index_verdict<Operation, Table>,
      index_verdict<Operation, Positions>, blocks_verdict<sharding<>, TQ, TK, TV, Table, Positions>>;
  if constexpr (!std::is_same_v<own, reason::ok>) {
    return found<own>{};
  } else {
    using Q = typename axis_argument<DimQ>::axis;
    using D = typename axis_argument<DimD>::axis;
    using P = typename axis_argument<ToldP>::axis;
    using slots = typename axis_argument<S>::axis;
    using batch =
        basic_tensor<typename TQ::value_type, without_axis<without_axis<sharding_in<TQ>, D>, Q>, typename TQ::space>;
    using heads = difference_of<axes_in<TK>, type_list<P, slots, D>>;
    using both = common_of<typename axis_argument<ToldP>::mesh, mesh_axes_in<TQ>>;
    if constexpr (both::size > 0)
      return found<
          reason::keys_are_divided_as_queries<typename type_at<both, 0>::type, sharding_in<TQ>, sharding_in<TK>>>{};
    else if constexpr (!std::is_same_v<sharding_in<TK>, sharding_in<TV>> || !is_last_axis<sharding_in<TQ>, D> ||
                       !is_last_axis<sharding_in<TK>, D> || difference_of<heads, axes_in<batch>>::size > 0 ||
                       !lies_as<TK, batch>(heads{}) || position_in<P, axes_in<TQ>> >= 0 ||
                       position_in<slots, axes_in<TQ>> >= 0 || position_in<Q, axes_in<Table>> >= 0 ||
                       difference_of<axes_in<Positions>, axes_in<batch>>::size > 0 ||
                       !lies_within<Positions, batch>(axes_in<Positions>{}) || !is_table_of<Table, batch>())
      return found<reason::pages_sharding_mismatch<sharding_in<TQ>, Operation>>{};
    else
      return found<reason::ok>{};
  }
}

/// The moves of an attention to pages: the checks of table and positions, and for divided pages what `K/X` moves.
template <class Types, class Range, class ToldP, class TK, class Table, class Positions>
using moves_of_pages =
    moves_in_turn<moves_of_range<Range, Table, varying_in<TK>>,
                  moves_of_range<Range, Positions, typename Types::blocks>,
                  moves_of_rows<typename Types::local, typename Types::rows, typename axis_argument<ToldP>::mesh,
                                2 * static_cast<int>(sizeof(typename Types::wide))>,
                  moves_of_reshard<typename Types::local, typename Types::result::sharding_type>>;

}  // namespace detail

namespace operation {

/// Attention to keys and values in pages. `P`: the axis of pages, with the mesh axes that divide it in the pool.
template <class Q, class S, class D, class P, class Range>
struct paged_attention : detail::scaled_scores {
  static constexpr char const* name = "attention";
  detail::score_options options{};  ///< a window, perhaps with the first keys

  template <class TQ, class TK, class TV, class Table, class Positions>
  using verdict =
      typename decltype(detail::check_pages<paged_attention, Q, S, D, P, TQ, TK, TV, Table, Positions>())::type;
  template <class TQ, class TK, class Table, class Positions>
  using types = detail::paged_types<Q, D, P, TQ, TK, Table, Positions>;
  template <class TQ, class TK, class TV, class Table, class Positions>
  using moves = detail::moves_of_pages<types<TQ, TK, Table, Positions>, Range, P, TK, Table, Positions>;

  template <class How, class TQ, class TK, class TV, class Table, class Positions>
  auto run(How const&, TQ const& q, TK const& k, TV const& v, Table const& table, Positions const& positions) const {
    using of = types<TQ, TK, Table, Positions>;
    using labels = typename of::labels;
    using mesh = typename of::mesh;
    using local_type = typename of::local;
    using result_type = typename of::result;
    engine::execution_context const w = detail::context_of<labels, mesh>(name, q, k, v, table, positions);
    auto const operands = blocks<of>(w, q, k, v, table, positions);
    auto const local = detail::allocate_for<local_type, labels, mesh>(w, q, k, v, table, positions);
    {
      detail::profiled_block<local_type> const region_of_run(name, local, "reads and writes", 2);
      weigh<of>(w, operands, local.local().data());
    }
    auto const made = [&] {
      if constexpr (of::is_divided) {
        using target = typename result_type::sharding_type;
        return detail::run_reshard<detail::reshard_types<local_type, target>, target>(name, local);
      } else {
        return local;
      }
    }();
    if constexpr (std::is_same_v<typename TQ::value_type, typename of::wide>)
      return made;
    else
      return ostraka::cast<typename TQ::value_type>(made);
  }

  /// An upper bound of a call's flops: the positions of requests, and the devices that hold their pages, are not known
  /// beforehand.
  template <class TQ, class TK, class TV, class Table, class Positions>
  [[nodiscard]] constexpr std::int64_t flops_of_call(std::int64_t, TQ const& q, TK const& k, TV const& v,
                                                     Table const& table, Positions const& positions) const {
    using of = types<TQ, TK, Table, Positions>;
    using labels = typename of::labels;
    using mesh = typename of::mesh;
    constexpr planner::spec rows = spec_of<typename of::rows, labels, mesh>;
    constexpr int queries = rows.find(position_in<typename detail::axis_argument<Q>::axis, labels>);
    planner::extents const e =
        detail::extents_by_name<labels, mesh>::of(detail::sizes_of_call(q, k, v, table, positions));
    planner::paged_queries const r = request<of, TK, Table, batch_of<of, TQ>>(e);
    std::int64_t heads = 1;
    for (int d = 0; d < rows.rank; ++d) heads *= d == queries ? 1 : planner::largest_range(rows, d, e);
    return 4 * e.label[position_in<typename of::width, labels>] * heads *
           planner::most_of_blocks(r.queries, e.ways(rows.over[queries]),
                                   [&](planner::range block) { return r.pairs(block); });
  }

 private:
  template <class Of, class TQ>
  using batch_of = basic_tensor<typename TQ::value_type, typename Of::rows, typename TQ::space>;

  /// Returns the extents of a request that its price depends on.
  template <class Of, class TK, class Table, class Batch>
  [[nodiscard]] constexpr planner::paged_queries request(planner::extents const& e) const {
    using labels = typename Of::labels;
    using mesh = typename Of::mesh;
    using entries = typename detail::entries_of_table<Table, Batch>::type;
    constexpr planner::spec k = spec_of<TK, labels, mesh>;
    auto const extent = [&]<class A>(std::type_identity<A>) { return e.label[position_in<A, labels>]; };
    return {
        {true, options.window, options.first},
        extent(std::type_identity<typename detail::axis_argument<Q>::axis>{}),
        extent(std::type_identity<entries>{}) * extent(std::type_identity<typename detail::axis_argument<S>::axis>{}),
        e.ways(k.over[k.find(position_in<typename detail::axis_argument<P>::axis, labels>)])};
  }

  /// Checks table and positions, and aligns all blocks with the rows.
  template <class Of, class TQ, class TK, class TV, class Table, class Positions>
  auto blocks(engine::execution_context const& w, TQ const& q, TK const& k, TV const& v, Table const& table,
              Positions const& positions) const {
    using labels = typename Of::labels;
    using mesh = typename Of::mesh;
    using query_axis = typename detail::axis_argument<Q>::axis;
    using page_axis = typename detail::axis_argument<P>::axis;
    using slot_axis = typename detail::axis_argument<S>::axis;
    using batch = batch_of<Of, TQ>;
    using entries = typename detail::entries_of_table<Table, batch>::type;
    constexpr int pages = position_in<page_axis, labels>, slots = position_in<slot_axis, labels>;
    static constexpr planner::spec s = spec_of<typename Of::rows, labels, mesh>, of_k = spec_of<TK, labels, mesh>,
                                   of_table = spec_of<Table, labels, mesh>;
    auto const extent = [&]<class A>(std::type_identity<A>) { return w.sizes.label[position_in<A, labels>]; };
    std::int64_t const room = extent(std::type_identity<entries>{}) * w.sizes.label[slots];
    detail::check_range<Range, varying_in<TK>>(name, table, page_axis::name, w.sizes.label[pages]);
    detail::check_range<Range, typename Of::blocks>(name, positions, slot_axis::name,
                                                    room - extent(std::type_identity<query_axis>{}) + 1);

    engine::paged_attention<typename TQ::value_type, typename Table::value_type, typename Positions::value_type> a;
    a.rank = s.rank;
    for (int d = 0; d < s.rank; ++d) a.extent[d] = planner::range_of(s, d, w.here, w.sizes).size();
    a.q = engine::align(w, spec_of<TQ, labels, mesh>, s, detail::elements_of(q));
    a.k = engine::align(w, of_k, s, detail::elements_of(k));
    a.v = engine::align(w, of_k, s, detail::elements_of(v));
    a.table = engine::align(w, of_table, s, detail::elements_of(table));
    a.positions = engine::align(w, spec_of<Positions, labels, mesh>, s, detail::elements_of(positions));
    a.width = extent(std::type_identity<typename Of::width>{});
    a.slots = w.sizes.label[slots];
    a.next_entry = engine::detail::window_of(w, of_table, position_in<entries, labels>).stride;
    a.key_pages = a.value_pages = engine::detail::window_of(w, of_k, pages);
    a.key_slot = a.value_slot = engine::detail::window_of(w, of_k, slots).stride;
    a.queries = s.find(position_in<query_axis, labels>);
    a.first_query = planner::range_of(s, a.queries, w.here, w.sizes).begin;
    a.request = request<Of, TK, Table, batch>(w.sizes);
    a.scale = static_cast<typename Of::wide>(scale_of(a.width));
    return a;
  }

  template <class Of, class Blocks>
  void weigh(engine::execution_context const& w, Blocks const& a, typename Of::wide* weighted) const {
    using wide = typename Of::wide;
    auto const exec = detail::execution_space_of<typename Of::local>();
    if (w.mesh->absent()) return;
    std::int64_t const rows = a.rows();
    using memory = typename std::remove_cvref_t<decltype(exec)>::memory_space;
    engine::kernel_scratch<engine::exp_sum<wide>, memory> const states(rows);
    engine::kernel_scratch<wide, memory> const largest(rows);
    engine::attend_to_pages(exec, a, weighted, states.data(), largest.data());
    if constexpr (Of::is_divided) {
      using mesh = typename Of::mesh;
      static constexpr planner::spec s = spec_of<typename Of::rows, typename Of::labels, mesh>;
      engine::combine_rows<wide>(exec, w, s, detail::mesh_axes_numbered<mesh>(typename Of::pages_over{}), states.data(),
                                 rows, engine::merge_statistics<engine::exp_sum<wide>>{});
    }
    engine::finish_pages(exec, rows, a.width, largest.data(), states.data(), weighted);
  }
};

}  // namespace operation

namespace detail {

template <class Option>
inline constexpr bool is_option_of_pages =
    is_paged<Option> || has_row_positions<Option> || std::is_same_v<Option, causal_mask> ||
    std::is_same_v<Option, score_scale> || std::is_same_v<Option, attention_window> ||
    std::is_same_v<Option, promised_range>;

// Sets a scale or a window. The other options are in the operation's type and operands.
template <class Operation, class Option>
constexpr void set_page_option([[maybe_unused]] Operation& operation, [[maybe_unused]] Option const& option) {
  if constexpr (std::is_same_v<Option, score_scale>)
    set_option(operation, option);
  else if constexpr (std::is_same_v<Option, attention_window>)
    set_option(operation.options, option);
}

template <class Option>
struct page_argument {
  using type = type_list<>;
};
template <class Dim, class Table>
struct page_argument<paged_by<Dim, Table>> {
  using type = type_list<Dim>;
};

struct table_of_pages {
  template <class Dim, class Table>
  constexpr Table const& operator()(paged_by<Dim, Table> const& pages) const {
    return pages.table;
  }
};
struct positions_of_rows {
  template <class T>
  constexpr T const& operator()(row_positions<T> const& at) const {
    return at.positions;
  }
};

/// Returns the tensor of the first option that `Of` takes.
template <class Of, class First, class... Options>
constexpr auto const& tensor_among(First const& first, Options const&... options) {
  if constexpr (requires { Of{}(first); })
    return Of{}(first);
  else
    return tensor_among<Of>(options...);
}

/// Attention to keys in pages.
template <class Q, class S, class D, class Out, class... Options>
struct paged_attention_with {
  using page_dim = typename type_at<concatenation_of<type_list<>, typename page_argument<Options>::type...>, 0>::type;
  using operation_type = ostraka::operation::paged_attention<Q, S, D, page_dim, range_among<Options...>>;
  static constexpr int tables = (0 + ... + int{is_paged<Options>});
  static constexpr int positions = (0 + ... + int{has_row_positions<Options>});
  using options_verdict = first_fault<
      std::conditional_t<std::is_void_v<Out>, reason::ok, reason::not_an_option_of_pages<Out>>,
      std::conditional_t<is_option_of_pages<Options>, reason::ok, reason::not_an_option_of_pages<Options>>...,
      std::conditional_t<(tables > 1 || positions > 1), reason::option_is_given_twice<operation_type>, reason::ok>,
      std::conditional_t<(positions == 1 && (std::is_same_v<Options, causal_mask> || ...)), reason::ok,
                         reason::pages_without_positions<operation_type>>>;

  template <class TQ, class TK, class TV>
  static constexpr auto run(TQ const& q, TK const& k, TV const& v, Options const&... options) {
    if constexpr (reason::ok_or_raise<options_verdict>()) {
      operation_type operation;
      (set_page_option(operation, options), ...);
      return operate(operation, q, k, v, tensor_among<table_of_pages>(options...),
                     tensor_among<positions_of_rows>(options...));
    } else {
      return q;
    }
  }
};

}  // namespace detail

}  // namespace ostraka
