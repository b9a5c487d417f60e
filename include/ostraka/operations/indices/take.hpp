// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::take<V>(table, index)`: rows of a table by number, table[index[I], D]. It is an einsum with a one-hot
/// matrix that is never made: indices and the rows found move, the table never does (plan/search/index_plans.hpp).
///
///     take<V>            [V, D_Y]    [B_X, S]    → [B_X, S, D_Y]     nothing moved
///     take<V, B/X, D>    [V_X, D]    [B_X]       → [B_X, D]          all_gather<X> of [B_X], reduce_scatter<B/X>
///     take<V, B, D/T>    [V, D_T]    [B_T]       → [B, D_T]          all_gather<T> of [B_T]
///     take<K>            [B_X, K]    [B_X]       → [B_X]             a shared axis: matched

#include <cstdint>
#include <type_traits>

#include <ostraka/engine/blocks/index_blocks.hpp>
#include <ostraka/operations/indices/index_range.hpp>
#include <ostraka/plan/search/index_plans.hpp>

namespace ostraka {

namespace detail {

/// The axes of a result that the call does not name: those of the index, then the table's others.
template <class V, class Table, class Index>
using taken_axes = difference_of<typename unite_lists<axes_in<Index>, axes_in<Table>>::type, type_list<V>>;

template <class V, class Table, class Index, class Out = sharding<>>
struct take_types {
  using labels = union_of<axes_in<Index>, axes_in<Table>>;
  using mesh = union_of<mesh_axes_in<Index>, mesh_axes_in<Table>, mesh_axes_in<Out>>;
  static constexpr int v = position_in<V, labels>;
  static constexpr planner::spec index = spec_of<Index, labels, mesh>;
  static constexpr planner::spec table = spec_of<Table, labels, mesh>;
  static constexpr planner::spec result = spec_of<Out, labels, mesh>;

  static constexpr planner::lookup_plan plan = [] {
    planner::bounded_list<planner::spec, planner::max_operands> operands;
    operands.push_back(index);
    operands.push_back(table);
    return planner::plan_lookup(index, table, v, result,
                                planner::nominal_sizes(planned_sizes(labels{}, mesh{}), operands, result),
                                {element_bytes_in<Index>, element_bytes_in<Table>});
  }();
  using index_sharding = varying_as<sharding_from<plan.index, labels, mesh>, Index>;
  using local_sharding = varying_as<sharding_from<plan.local, labels, mesh>, Table, Index>;
};

/// The result if nothing moves.
template <class V, class Table, class Index>
struct free_take {
  using types = take_types<V, Table, Index>;
  static constexpr planner::spec index = planner::index_for(types::index, types::table, {}, {}, types::index.splits());
  template <class... As>
  static constexpr planner::spec unnamed(type_list<As...>) {
    planner::spec s;
    (s.push_back(position_in<As, typename types::labels>), ...);
    return s;
  }
  static constexpr planner::spec local =
      planner::lookup_sharding(index, types::table, types::v, unnamed(taken_axes<V, Table, Index>{}));
  static constexpr bool meets = [] {
    if (planner::reshard_volume(
            types::index, index,
            planner::nominal_sizes(planned_sizes(typename types::labels{}, typename types::mesh{}))) > 0)
      return false;
    for (int i = 0; i < local.rank; ++i) {
      int const at = types::table.find(local.label[i]);
      planner::mesh_set const own = at >= 0 ? types::table.over[at].axes() : planner::mesh_set{};
      if (!((local.over[i].axes() - own) & types::table.uses()).empty()) return false;
    }
    return true;
  }();
  using type = sharding_from<local, typename types::labels, typename types::mesh>;
};

template <class V, class Operation, class... Ms>
auto indexed_reason(type_list<Ms...>) -> reason::indexed_axis_is_divided<V, Operation, Ms...>;

template <class Operation, class V, class Out, class Table, class Index>
consteval auto check_take() {
  using own = first_fault<typename sharding_traits<sharding_in<Table>>::verdict, index_verdict<Operation, Index>,
                          kinds_verdict<reduction::sum, Table>>;
  if constexpr (!std::is_same_v<own, reason::ok>) {
    return found<own>{};
  } else if constexpr (position_in<V, axes_in<Table>> < 0) {
    return found<reason::axis_missing<V, sharding_in<Table>>>{};
  } else if constexpr (position_in<V, axes_in<Index>> >= 0) {
    return found<reason::index_has_the_axis<V, Operation>>{};
  } else if constexpr (std::is_void_v<Out>) {
    using splits = splits_of<V, sharding_in<Table>>;
    using blocks = blocks_verdict<sharding<>, Table, Index>;
    if constexpr (!std::is_same_v<blocks, reason::ok>)
      return found<blocks>{};
    else if constexpr (splits::size > 0)
      return found<decltype(indexed_reason<V, Operation>(splits{}))>{};
    else if constexpr (!free_take<V, Table, Index>::meets)
      return found<reason::index_meets_divided_table<sharding_in<Index>, sharding_in<Table>, Operation>>{};
    else
      return found<reason::ok>{};
  } else {
    using verdict = first_fault<typename sharding_traits<Out>::verdict, kinds_verdict<reduction::sum, Out>,
                                blocks_verdict<Out, Table, Index>>;
    using axes = taken_axes<V, Table, Index>;
    if constexpr (!std::is_same_v<verdict, reason::ok>)
      return found<verdict>{};
    else if constexpr (difference_of<axes_in<Out>, axes>::size > 0)
      return found<reason::result_axis_in_no_operand<typename type_at<difference_of<axes_in<Out>, axes>, 0>::type>>{};
    else if constexpr (difference_of<axes, axes_in<Out>>::size > 0)
      return found<
          reason::result_lacks_axis<typename type_at<difference_of<axes, axes_in<Out>>, 0>::type, Operation>>{};
    else
      return found<first_fault<
          element_verdict<typename Table::value_type, Out>,
          element_verdict<typename Table::value_type, typename take_types<V, Table, Index, Out>::local_sharding>>>{};
  }
}

template <class V, class Out, class Table, class Index>
struct named_take {
  using type = Out;
};
template <class V, class Table, class Index>
struct named_take<V, void, Table, Index> : free_take<V, Table, Index> {};

template <class V, class Out, class Table, class Index>
struct moved_in_take {
  using out = typename named_take<V, Out, Table, Index>::type;
  using types = take_types<V, Table, Index, out>;
  using local = basic_tensor<typename Table::value_type, typename types::local_sharding, typename Table::space>;
  using of_index = moves_of_reshard<Index, typename types::index_sharding>;
  using of_rows = moves_of_reshard<local, varying_as<out, Table, Index>>;
};

/// The moves: a check of the indices, then the indices and the rows found.
template <class V, class Out, class Range, class Table, class Index>
using moves_of_take = moves_in_turn<moves_of_range<Range, Index, varying_in<Table>>,
                                    typename moved_in_take<V, Out, Table, Index>::of_index,
                                    typename moved_in_take<V, Out, Table, Index>::of_rows>;

}  // namespace detail

namespace operation {

/// The operation of os::take. `Out`: the result's sharding, void if the call does not name it. `Range`: checked_range
/// or promised_range.
template <class V, class Out = void, class Range = detail::checked_range>
struct take {
  static constexpr char const* name = "take";

  template <class Table, class Index>
  using verdict = typename decltype(detail::check_take<take, V, Out, Table, Index>())::type;

  template <class Table, class Index>
  using moves = detail::moves_of_take<V, Out, Range, Table, Index>;

  template <class How, class Table, class Index>
  auto run(How const&, Table const& table, Index const& index) const {
    using element = typename Table::value_type;
    using out = varying_as<typename detail::named_take<V, Out, Table, Index>::type, Table, Index>;
    using types = detail::take_types<V, Table, Index, typename detail::named_take<V, Out, Table, Index>::type>;
    using labels = typename types::labels;
    using mesh = typename types::mesh;
    using local_type = basic_tensor<element, typename types::local_sharding, typename Table::space>;
    using index_sharding = typename types::index_sharding;
    engine::execution_context const w = detail::context_of<labels, mesh>(name, index, table);
    detail::check_range<Range, varying_in<Table>>(name, index, V::name, w.sizes.label[types::v]);
    auto const numbers = detail::run_reshard<detail::reshard_types<Index, index_sharding>, index_sharding>(name, index);
    auto const local = detail::allocate_for<local_type, labels, mesh>(w, table, index);
    {
      detail::profiled_block<local_type> const region_of_run(name, local, "reads and writes", 2);
      engine::look_up_blocks(detail::execution_space_of<Table>(), w, types::v, types::plan.local, types::table,
                             types::plan.index, local.local().data(), detail::elements_of(table),
                             detail::elements_of(numbers));
    }
    return detail::run_reshard<detail::reshard_types<local_type, out>, out>(name, local);
  }
};

}  // namespace operation

/// Rows of a table by number. `os::take<V>(table, index)` has the index's axes, then the table's without V, and moves
/// nothing. `os::take<V, B/X, D>(table, index)` names the result, and moves indices or the rows found. If table and
/// index share an axis, they are matched along it: table[b, index[b]]. Rows of a partial table are partial.
/// os::in_range after the index promises that its numbers are in range, and saves the check.
/// @throws ostraka::error, on all devices alike and before anything moves, if a number is not one of 0 … n−1
template <auto V, TensorOrVariable Table, TensorOrVariable Index, detail::IndexRange Range = detail::checked_range>
[[nodiscard]] constexpr auto take(Table const& table, Index const& index, Range = {}) {
  return detail::operate(operation::take<detail::type_of<V>, void, Range>{}, table, index);
}
template <auto V, auto First, auto... Out, TensorOrVariable Table, TensorOrVariable Index,
          detail::IndexRange Range = detail::checked_range>
[[nodiscard]] constexpr auto take(Table const& table, Index const& index, Range = {}) {
  return detail::operate(operation::take<detail::type_of<V>, sharding_of<First, Out...>, Range>{}, table, index);
}

}  // namespace ostraka
