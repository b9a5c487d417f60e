// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The verbs that are one move each: their arguments, their requirements on the tensor, and their result.
///
///     verb                   the mesh axes, before           and then
///     all_gather<X, …>       at the minor end of an axis     the tensor is replicated along them
///     all_reduce<X, …>       hold parts                      the tensor is replicated along them
///     reduce_scatter<I/X>    hold parts                      they divide I, at its minor end
///     all_to_all<I/X>        at the minor end of another     they divide I, at its minor end
///     slice<I/X>             not used by the tensor          they divide I, at its minor end

#include <ostraka/calls/operate.hpp>
#include <ostraka/moves/reshard.hpp>

namespace ostraka::detail {

/// The rule of a verb for its mesh axes. `wrong`: the mesh axes that are not where the verb takes them from.
/// `reason_if_wrong`: the reason for the first of them. `reason_if_not_minor`: the reason if they are not at the minor
/// end.
template <step Kind>
struct verb_rule;

template <>
struct verb_rule<step::all_gather> {
  template <class Dim, class Sharding>
  using wrong = difference_of<Dim, typename sharding_traits<Sharding>::splits>;
  template <class X, class Sharding>
  using reason_if_wrong = reason::all_gather_needs_a_split<X, Sharding>;
  template <class X, class Sharding>
  using reason_if_not_minor = reason::all_gather_not_from_minor_end<X, Sharding>;
};

template <>
struct verb_rule<step::all_reduce> {
  template <class Dim, class Sharding>
  using wrong = difference_of<Dim, typename sharding_traits<Sharding>::partials>;
  template <class X, class Sharding>
  using reason_if_wrong = reason::all_reduce_needs_a_partial<X, Sharding>;
};

template <>
struct verb_rule<step::reduce_scatter> {
  template <class Dim, class Sharding>
  using wrong = difference_of<Dim, typename sharding_traits<Sharding>::partials>;
  template <class X, class Sharding>
  using reason_if_wrong = reason::reduce_scatter_needs_a_partial<X, Sharding>;
};

template <>
struct verb_rule<step::all_to_all> {
  template <class Dim, class Sharding>
  using wrong = difference_of<Dim, typename sharding_traits<Sharding>::splits>;
  template <class X, class Sharding>
  using reason_if_wrong = reason::all_to_all_needs_a_split_elsewhere<X, Sharding>;
  template <class X, class Sharding>
  using reason_if_not_minor = reason::all_to_all_needs_a_split_elsewhere<X, Sharding>;
};

template <>
struct verb_rule<step::slice> {
  template <class Dim, class Sharding>
  using wrong = difference_of<Dim, difference_of<Dim, mesh_axes_in<Sharding>>>;
  template <class X, class Sharding>
  using reason_if_wrong = reason::slice_needs_a_replicated_axis<X, Sharding>;
};

/// `s` without these mesh axes, which may divide it or hold its parts.
constexpr planner::spec without(planner::spec s, planner::mesh_set axes) {
  for (int i = 0; i < s.rank; ++i)
    for (int k = s.over[i].size() - 1; k >= 0; --k)
      if (axes.contains(s.over[i][k])) s.over[i].erase(k);
  s.partial = s.partial - axes;
  return s;
}

/// The move of a tensor or sharding A, in the values that reshard runs on: the mesh axes `Ms` leave their places and,
/// unless I is void, divide I.
template <step Kind, class A, class I, class... Ms>
struct one_move {
  using labels = axes_in<A>;
  using mesh = union_of<mesh_axes_in<A>, type_list<Ms...>>;
  static constexpr planner::mesh_set moved = mesh_axes_numbered<mesh>(type_list<Ms...>{});
  static constexpr int divided = position_in<I, labels>;  // −1: none
  static constexpr planner::spec from = spec_of<A, labels, mesh>;

  static consteval planner::spec make_target() {
    planner::spec s = without(from, moved);
    if (divided >= 0) (s.over[divided].push_back(position_in<Ms, mesh>), ...);
    return s;
  }
  static constexpr planner::spec to = make_target();

  /// True if the mesh axes were at minor ends, of axes other than I. Otherwise blocks would change places.
  static consteval bool is_from_minor_ends() {
    planner::spec const rest = without(from, moved);
    for (int i = 0; i < from.rank; ++i)
      if (!from.over[i].starts_with(rest.over[i]) || (i == divided && rest.over[i] != from.over[i])) return false;
    return true;
  }

  /// The steps: exactly the verb's move. A reshard may find a cheaper way to the same sharding.
  static constexpr planner::reshard_steps steps = [] {
    planner::reshard_steps move;
    if (!moved.empty()) move.push_back({Kind, 0, moved, from, to});
    return move;
  }();
  static constexpr bool changes_nothing = steps.empty();
  static constexpr planner::einsum_plan plan = plan_of_moves(from, to, steps, {});
};

template <class Operation, step Kind, class A, class I, class... Ms>
consteval auto check_move() {
  using sharding = sharding_in<A>;
  using rule = verb_rule<Kind>;
  using wrong = typename rule::template wrong<type_list<Ms...>, sharding>;
  using varying = common_of<type_list<Ms...>, varying_in<A>>;
  if constexpr (!std::is_void_v<I> && position_in<I, axes_in<A>> < 0)
    return found<reason::axis_missing<I, sharding>>{};
  else if constexpr (varying::size > 0)
    return found<reason::block_is_not_a_tensor<typename type_at<varying, 0>::type, Operation>>{};
  else if constexpr (wrong::size > 0)
    return found<typename rule::template reason_if_wrong<typename type_at<wrong, 0>::type, sharding>>{};
  else if constexpr (!one_move<Kind, A, I, Ms...>::is_from_minor_ends())
    return found<typename rule::template reason_if_not_minor<typename type_at<type_list<Ms...>, 0>::type, sharding>>{};
  else
    return found<reason::ok>{};
}

/// The move of a verb with the argument `Dim`: mesh axes as a list, or an axis and the mesh axes that have to divide
/// it.
template <class Operation, step Kind, class A, class Dim>
struct verb_call {
  using verdict = reason::not_a_divided_axis<Dim>;
};

template <class Operation, step Kind, class A, class... Ms>
struct verb_call<Operation, Kind, A, type_list<Ms...>> {
  using move = one_move<Kind, A, void, Ms...>;
  using verdict = typename decltype(check_move<Operation, Kind, A, void, Ms...>())::type;
};

template <class Operation, step Kind, class A, class I, class... Ms>
struct verb_call<Operation, Kind, A, over<I, Ms...>> {
  using move = one_move<Kind, A, I, Ms...>;
  using verdict = typename decltype(check_move<Operation, Kind, A, I, Ms...>())::type;
};

/// The plan of a move, for questions about its price.
template <class Move, class A>
struct move_source {
  static constexpr named_plan<typename Move::labels, typename Move::mesh, element_bytes_in<A>> plan{Move::plan};
};

/// The base of all verbs.
template <class Operation, step Kind, class Dim>
struct verb : callable<Operation> {
  using changes_sharding = void;
  static constexpr char const* name = planner::name_of(Kind).data();
  template <class A>
  using verdict = typename verb_call<Operation, Kind, A, Dim>::verdict;
  template <class A>
  using move = typename verb_call<Operation, Kind, A, Dim>::move;
  template <class A>
  using moves = moves_of_plan<move_source<move<A>, A>>;
  template <class A>
  using refused = after_error<A>;
  /// The same tensor under this sharding.
  template <class A>
  using target = varying_as<sharding_from<move<A>::to, typename move<A>::labels, typename move<A>::mesh>, A>;

  template <class How, class A>
  auto run(How const&, A const& a) const {
    return run_reshard<move<A>, target<A>, How>(name, a);
  }
};

}  // namespace ostraka::detail
