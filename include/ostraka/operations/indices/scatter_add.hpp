// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::scatter_add<V, V, D>(rows, index, V = n)`: out[index[I], D] += rows[I, D], the transpose of os::take.
/// A device adds the rows that fall into its range of V. If rows are divided, summands are reduced or rows are
/// gathered, whichever moves less (plan/search/index_plans.hpp).
///
///     scatter_add<V, V/X, D>             [B, D]      [B]      → [V_X, D]         nothing moved
///     scatter_add<V, V, D/Y>             [B, D_Y]    [B]      → [V, D_Y]         nothing moved
///     scatter_add<V, V/X, D>             [B_X, D]    [B_X]    → [V_X, D]         reduce_scatter<V/X>, or all_gather<X>
///     scatter_add<V, V, D, partial(X)>   [B_X, D]    [B_X]    → [V, D] {U_X}     nothing moved

#include <cstdint>
#include <type_traits>

#include <ostraka/blocks/create.hpp>
#include <ostraka/engine/blocks/index_blocks.hpp>
#include <ostraka/operations/indices/index_range.hpp>
#include <ostraka/plan/search/index_plans.hpp>

namespace ostraka {

namespace detail {

template <class V, class Out, class Rows, class Index>
struct scatter_types {
  using labels = typename unite_lists<axes_in<Rows>, type_list<V>>::type;
  using mesh = union_of<mesh_axes_in<Rows>, mesh_axes_in<Index>, mesh_axes_in<Out>>;
  static constexpr int v = position_in<V, labels>;

  static constexpr planner::scatter_plan plan = [] {
    constexpr planner::spec rows = spec_of<Rows, labels, mesh>;
    constexpr planner::spec result = spec_of<Out, labels, mesh>;
    planner::bounded_list<planner::spec, planner::max_operands> operands;
    operands.push_back(rows);
    return planner::plan_scatter(rows, spec_of<Index, labels, mesh>, v, result,
                                 planner::nominal_sizes(planned_sizes(labels{}, mesh{}), operands, result),
                                 {element_bytes_in<Index>, element_bytes_in<Rows>});
  }();
  using rows_sharding = varying_as<sharding_from<plan.updates, labels, mesh>, Rows>;
  using index_sharding = varying_as<sharding_from<plan.index, labels, mesh>, Index>;
  using local_sharding = varying_as<sharding_from<plan.local, labels, mesh>, Rows, Index>;
};

template <class Operation, class V, class Out, class Rows, class Index>
consteval auto check_scatter() {
  using own = first_fault<typename sharding_traits<sharding_in<Rows>>::verdict, index_verdict<Operation, Index>,
                          typename sharding_traits<Out>::verdict, kinds_verdict<reduction::sum, Rows, Out>,
                          blocks_verdict<Out, Rows, Index>>;
  using strange = difference_of<axes_in<Index>, axes_in<Rows>>;
  using unknown = difference_of<axes_in<Out>, concatenation_of<axes_in<Rows>, type_list<V>>>;
  using lacking = difference_of<axes_in<Rows>, concatenation_of<axes_in<Out>, axes_in<Index>>>;
  if constexpr (!std::is_same_v<own, reason::ok>)
    return found<own>{};
  else if constexpr (position_in<V, axes_in<Index>> >= 0)
    return found<reason::index_has_the_axis<V, Operation>>{};
  else if constexpr (position_in<V, axes_in<Rows>> >= 0)
    return found<reason::rows_have_the_axis<V, Operation>>{};
  else if constexpr (strange::size > 0)
    return found<reason::index_axis_not_in_rows<typename type_at<strange, 0>::type, Operation>>{};
  else if constexpr (position_in<V, axes_in<Out>> < 0)
    return found<reason::indexed_axis_not_in_result<V, Operation>>{};
  else if constexpr (unknown::size > 0)
    return found<reason::result_axis_in_no_operand<typename type_at<unknown, 0>::type>>{};
  else if constexpr (lacking::size > 0)
    return found<reason::result_lacks_axis<typename type_at<lacking, 0>::type, Operation>>{};
  else
    return found<first_fault<element_verdict<typename Rows::value_type, Out>,
                             reducible_verdict<typename Rows::value_type, reduction::sum, Operation>>>{};
}

template <class V, class Out, class Rows, class Index>
struct moved_in_scatter {
  using types = scatter_types<V, Out, Rows, Index>;
  using local = basic_tensor<typename Rows::value_type, typename types::local_sharding, typename Rows::space>;
  using of_rows = moves_of_reshard<Rows, typename types::rows_sharding>;
  using of_index = moves_of_reshard<Index, typename types::index_sharding>;
  using of_result = moves_of_reshard<local, varying_as<Out, Rows, Index>>;
};

/// The moves: a check of the indices, then rows and indices, then their sums.
template <class V, class Out, class Range, class Rows, class Index>
using moves_of_scatter =
    moves_in_turn<moves_of_range<Range, Index>, typename moved_in_scatter<V, Out, Rows, Index>::of_rows,
                  typename moved_in_scatter<V, Out, Rows, Index>::of_index,
                  typename moved_in_scatter<V, Out, Rows, Index>::of_result>;

/// Does the work of os::scatter_add and os::segment_sum. Errors name `Verb`, which the program called.
template <class Verb, class V, class Out, class Range>
struct adds_rows {
  std::int64_t extent = 0;    ///< of V
  extent_origin origin = {};  ///< for a block: the origin of that extent

  template <class Rows, class Index>
  using verdict = typename decltype(check_scatter<Verb, V, Out, Rows, Index>())::type;

  template <class Rows, class Index>
  using moves = moves_of_scatter<V, Out, Range, Rows, Index>;
  [[nodiscard]] constexpr named_extent<V> made() const { return {V{}, extent}; }

  template <class How, class Rows, class Index>
  auto run(How const&, Rows const& rows, Index const& index) const {
    using element = typename Rows::value_type;
    using out = varying_as<Out, Rows, Index>;
    using types = scatter_types<V, Out, Rows, Index>;
    using labels = typename types::labels;
    using mesh = typename types::mesh;
    using local_type = basic_tensor<element, typename types::local_sharding, typename Rows::space>;
    using rows_sharding = typename types::rows_sharding;
    using index_sharding = typename types::index_sharding;
    engine::execution_context w = context_of<labels, mesh>(Verb::name, rows, index);
    w.sizes.label[types::v] = extent;
    check_range<Range>(Verb::name, index, V::name, extent);
    auto const added = run_reshard<reshard_types<Rows, rows_sharding>, rows_sharding>(Verb::name, rows);
    auto const numbers = run_reshard<reshard_types<Index, index_sharding>, index_sharding>(Verb::name, index);
    local_type const local = make_local<local_type, labels, mesh>(w, rows);
    {
      profiled_block<local_type> const region_of_run(Verb::name, local, "writes");
      engine::scatter_add_blocks(execution_space_of<Rows>(), w, types::v, types::plan.local, types::plan.updates,
                                 types::plan.index, local.local().data(), elements_of(added), elements_of(numbers));
    }
    return run_reshard<reshard_types<local_type, out>, out>(Verb::name, local);
  }

 private:
  template <class R, class Labels, class Mesh, class Rows>
  R make_local(engine::execution_context const& w, Rows const& rows) const {
    R made(allocate_unnamed<typename R::value_type, R::rank, typename R::space>(
        rows.mesh_handle(), w, spec_of<typename R::sharding_type, Labels, Mesh>));
    if constexpr (varying_in<R>::size > 0) made.set_origins(origins(rows, axes_in<R>{}));
    return made;
  }
  template <class Rows, class... As>
  auto origins(Rows const& rows, type_list<As...>) const {
    auto const origin_of = [&]<class A>(std::type_identity<A>) {
      if constexpr (std::is_same_v<A, V>)
        return origin;
      else
        return origin_in<A>(rows);
    };
    return extent_origins<static_cast<int>(sizeof...(As))>{origin_of(std::type_identity<As>{})...};
  }
};

}  // namespace detail

namespace operation {

/// The operation of os::scatter_add. `Out`: the result's sharding. `Range`: checked_range or promised_range.
template <class V, class Out, class Range = detail::checked_range>
struct scatter_add : detail::adds_rows<scatter_add<V, Out, Range>, V, Out, Range> {
  static constexpr char const* name = "scatter_add";
};

}  // namespace operation

/// Sums rows by number: `os::scatter_add<V, V/X, D>(rows, index, V = 50000)`. The result's dimensions follow the axis
/// into which the indices point. The rows have all axes of the index; axes that the result lacks are summed. Each
/// device sums in the order of the rows, for any number of threads, and 16-bit numbers in float. os::in_range after the
/// operands promises that the numbers are in range, and saves the check.
/// @throws ostraka::error, on all devices alike and before anything moves, if a number is not one of 0 … n−1
template <auto V, auto... Out, TensorOrVariable Rows, TensorOrVariable Index, class... Given>
[[nodiscard]] constexpr auto scatter_add(Rows const& rows, Index const& index, Given const&... given) {
  using axis = detail::type_of<V>;
  using out = sharding_of<Out...>;
  operation::scatter_add<axis, out, detail::range_among<Given...>> how;
  if constexpr (!reason::ok_or_raise<detail::extent_beside_range<(varying_in<Rows>::size > 0), axis, Given...>>()) {
    return detail::after_error_of<typename Rows::value_type, out, typename Rows::space>();
  } else {
    auto const extents = collect_sizes(detail::extents_beside<detail::is_option<Given>>(given)...);
    how.extent = detail::checked_extent<(varying_in<Rows>::size > 0), axis>(extents, how.name);
    (detail::find_origin<axis>(how.origin, given), ...);
    return detail::operate(how, rows, index);
  }
}

}  // namespace ostraka
