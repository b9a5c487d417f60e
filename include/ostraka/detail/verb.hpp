// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. What the verbs that are one move each share: from the tensor's sharding and the named mesh axes to the
/// target's.

#include <ostraka/detail/after_error.hpp>
#include <ostraka/reshard.hpp>

namespace ostraka::detail {

/// A tensor's sharding as a value, with room for mesh axes that it does not use yet.
template <class A, class... Ms>
struct verb_types {
  using labels = axes_in<A>;
  using mesh = union_of<mesh_axes_in<A>, type_list<Ms...>>;
  static constexpr planner::spec from = spec_of<A, labels, mesh>;

  template <planner::spec To>
  using target = sharding_from<To, labels, mesh>;
};

/// The first of `Ms` that `Pred<M>` is false for, `void` if there is none.
template <template <class> class Pred, class... Ms>
struct first_without {
  using type = void;
};

template <template <class> class Pred, class M, class... Ms>
struct first_without<Pred, M, Ms...> {
  using type = typename std::conditional_t<Pred<M>::value, first_without<Pred, Ms...>, std::type_identity<M>>::type;
};

template <class A>
struct splits_of {
  template <class M>
  using contains = std::bool_constant<(position_in<M, typename sharding_traits<sharding_in<A>>::splits> >= 0)>;
};

template <class A>
struct partials_of {
  template <class M>
  using contains = std::bool_constant<(position_in<M, typename sharding_traits<sharding_in<A>>::partials> >= 0)>;
};

template <class A>
struct unused_by {
  template <class M>
  using contains = std::bool_constant<(position_in<M, mesh_axes_in<A>> < 0)>;
};

/// `s` without these mesh axes, wherever they divide it or hold its summands.
constexpr planner::spec without(planner::spec s, planner::mesh_set axes) {
  for (int i = 0; i < s.rank; ++i)
    for (int k = s.over[i].size() - 1; k >= 0; --k)
      if (axes.contains(s.over[i][k])) s.over[i].erase(k);
  s.partial = s.partial - axes;
  return s;
}

/// Does `to` only lack mesh axes at the minor ends of `from`?
constexpr bool only_minor_ends(planner::spec const& from, planner::spec const& to) {
  for (int i = 0; i < from.rank; ++i)
    if (!from.over[i].starts_with(to.over[i])) return false;
  return true;
}

template <class Types, class... Ms>
inline constexpr planner::mesh_set set_of = [] {
  planner::mesh_set s;
  (s.insert(position_in<Ms, typename Types::mesh>), ...);
  return s;
}();

/// `s` with these mesh axes at the minor end of a label.
template <class Types, class A, class... Ms>
constexpr planner::spec appended(planner::spec s) {
  int const i = s.find(position_in<A, typename Types::labels>);
  (s.over[i].push_back(position_in<Ms, typename Types::mesh>), ...);
  return s;
}

/// The move that a verb is. A reshard may find a cheaper way to the same sharding; a verb is what it says.
template <step Kind, class From, class To>
struct one_move {
  using labels = axes_in<From>;
  using mesh = union_of<mesh_axes_in<From>, mesh_axes_in<To>>;
  static constexpr planner::spec from = spec_of<From, labels, mesh>;
  static constexpr planner::spec to = spec_of<To, labels, mesh>;

  static consteval planner::reshard_steps make() {
    planner::mesh_set axes = from.partial - to.partial;
    for (int i = 0; i < from.rank; ++i) {
      int const same = planner::common_prefix(from.over[i], to.over[i]);
      axes = axes | from.over[i].after(same).axes() | to.over[i].after(same).axes();
    }
    planner::reshard_steps move;
    if (!axes.empty()) move.push_back({Kind, 0, axes, from, to});
    return move;
  }
  static constexpr planner::reshard_steps steps = make();
};

/// Raises the verdict, or makes the move to what the verb names.
template <step Kind, class Verdict, class Target, class A>
auto run_verb(A const& a) {
  reason::raise<Verdict>();
  if constexpr (std::is_same_v<Verdict, reason::ok>)
    return run_moves<one_move<Kind, A, Target>, Target>(planner::name_of(Kind).data(), a);
  else
    return after_error<A>{a};
}

}  // namespace ostraka::detail
