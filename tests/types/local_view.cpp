// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The algebra of blocks as types, for all shardings of up to two axes over up to two mesh axes and all sets of manual
/// mesh axes: a block leaves with the sharding that it entered with, `varying` is a set that stands last, and results
/// vary along the union of what their operands vary along. A refusal names the rule that is broken. Compiling is
/// passing.

#include <type_traits>

#include <ostraka/plan/typed/inside.hpp>

namespace os = ostraka;
using os::type_list;
using os::reason::ok;
using namespace os::detail;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

namespace {

using none = type_list<>;
using x = type_list<X_mesh>;
using y = type_list<Y_mesh>;
using xy = type_list<X_mesh, Y_mesh>;

// All valid ones: each mesh axis divides nothing, I, J (in either order where both divide the same), or holds parts.
using all =
    type_list<os::sharding_of<>, os::sharding_of<os::partial(X)>, os::sharding_of<os::partial(Y)>,
              os::sharding_of<os::partial(X, Y)>, os::sharding_of<I>, os::sharding_of<I/X>, os::sharding_of<I/Y>,
              os::sharding_of<I/X/Y>, os::sharding_of<I/Y/X>, os::sharding_of<I, os::partial(X)>,
              os::sharding_of<I, os::partial(Y)>, os::sharding_of<I, os::partial(X, Y)>,
              os::sharding_of<I/X, os::partial(Y)>, os::sharding_of<I/Y, os::partial_max(X)>, os::sharding_of<I, J>,
              os::sharding_of<I/X, J>, os::sharding_of<I/Y, J>, os::sharding_of<I, J/X>,
              os::sharding_of<I, J/Y>, os::sharding_of<I/X, J/Y>, os::sharding_of<I/Y, J/X>,
              os::sharding_of<I/X/Y, J>, os::sharding_of<I/Y/X, J>, os::sharding_of<I, J/X/Y>,
              os::sharding_of<I, J/Y/X>, os::sharding_of<I, J, os::partial(X)>,
              os::sharding_of<I, J, os::partial(Y)>, os::sharding_of<I, J, os::partial(X, Y)>,
              os::sharding_of<I/X, J, os::partial(Y)>, os::sharding_of<I/Y, J, os::partial(X)>,
              os::sharding_of<I, J/X, os::partial(Y)>, os::sharding_of<I, J/Y, os::partial_min(X)>>;

template <class A, class B>
constexpr bool same = std::is_same_v<A, B>;

template <class List, class Entry>
constexpr bool has = os::position_in<Entry, List> >= 0;

// True if `Verdict` is the reason for a manual mesh axis behind another.
template <class Verdict>
constexpr bool is_minor = false;
template <class A, class M>
constexpr bool is_minor<os::reason::manual_axis_is_minor<A, M>> = true;

// True if an axis of `Sharding` has `Minor` behind `Major`.
template <class Sharding, class Major, class Minor>
constexpr bool nests = false;
template <class... Entries, class Major, class Minor>
constexpr bool nests<os::sharding<Entries...>, Major, Minor> =
    ((same<Entries, os::over<I_axis, Major, Minor>> || same<Entries, os::over<J_axis, Major, Minor>>) || ...);

template <class Sharding, class Manual>
constexpr bool check_one() {
  using verdict = enter_verdict<Sharding, Manual>;
  constexpr bool minor =
      (same<Manual, y> && nests<Sharding, X_mesh, Y_mesh>) || (same<Manual, x> && nests<Sharding, Y_mesh, X_mesh>);
  static_assert(is_minor<verdict> == minor && same<verdict, ok> == !minor);
  if constexpr (!minor) {
    using block = inside_of<Sharding, Manual>;
    using used = common_of<os::mesh_axes_in<Sharding>, Manual>;
    // The manual mesh axes are a set, and nothing else has changed.
    static_assert(os::is_valid_sharding<block>);
    static_assert(os::varying_in<block>::size == used::size);
    static_assert(has<os::varying_in<block>, X_mesh> == has<used, X_mesh>);
    static_assert(has<os::varying_in<block>, Y_mesh> == has<used, Y_mesh>);
    static_assert(common_of<os::mesh_axes_in<block>, Manual>::size == 0);
    static_assert(os::mesh_axes_in<block>::size + used::size == os::mesh_axes_in<Sharding>::size);
    static_assert(same<os::axes_in<block>, os::axes_in<Sharding>>);
    // It leaves as it came, and leaves no body that names fewer axes.
    static_assert(same<leave_verdict<block, Sharding, Manual, none>, ok>);
    if constexpr (used::size > 0)
      static_assert(!same<leave_verdict<block, block, Manual, none>, ok>);
    else
      static_assert(same<block, Sharding>);
    // In a nested body a block may vary along the outer axes still.
    static_assert(
        same<leave_verdict<block, invariant_over<block, os::varying_in<block>>, none, os::varying_in<block>>, ok>);
    // Twice is once; one after another is both.
    static_assert(same<inside_of<block, Manual>, block>);
    if constexpr (same<Manual, x> && same<enter_verdict<block, y>, ok>)
      static_assert(same<inside_of<block, y>, inside_of<Sharding, xy>>);
    // The entry is last, and sorted by name.
    static_assert(same<block, canonical_sharding<block>>);
  }
  return true;
}

template <class... Shardings>
constexpr bool check_all(type_list<Shardings...>) {
  return ((check_one<Shardings, none>() && check_one<Shardings, x>() && check_one<Shardings, y>() &&
           check_one<Shardings, xy>()) &&
          ...);
}
static_assert(check_all(all{}));

// A result must name each mesh axis along which it varies, and each named one divides or holds parts of something.
template <class Out, class Block>
constexpr bool check_leaving() {
  using verdict = leave_verdict<Block, Out, xy, none>;
  constexpr bool same_axes = same<os::axes_in<Out>, os::axes_in<Block>>;
  constexpr bool escapes = os::difference_of<os::varying_in<Block>, os::mesh_axes_in<Out>>::size > 0;
  constexpr bool counted_twice =
      os::difference_of<typename os::sharding_traits<Out>::partials, os::varying_in<Block>>::size > 0;
  static_assert(same<verdict, ok> == (same_axes && !escapes && !counted_twice));
  return true;
}
template <class Block, class... Outs>
constexpr bool leaves_as_all(type_list<Outs...>) {
  return (check_leaving<Outs, Block>() && ...);
}
template <class... Axes>
constexpr bool check_blocks_of =
    leaves_as_all<os::sharding<Axes...>>(all{}) && leaves_as_all<os::sharding<Axes..., os::varying<X_mesh>>>(all{}) &&
    leaves_as_all<os::sharding<Axes..., os::varying<Y_mesh>>>(all{}) &&
    leaves_as_all<os::sharding<Axes..., os::varying<X_mesh, Y_mesh>>>(all{});
static_assert(check_blocks_of<> && check_blocks_of<I_axis> && check_blocks_of<I_axis, J_axis>);

// Results vary along the union, in any order and however often it is named.
using v = os::sharding_of<os::varying(X)>;
using w = os::sharding_of<os::varying(Y)>;
using both = os::sharding_of<I, os::varying(X, Y)>;
static_assert(same<os::varying_as<os::sharding_of<I>>, os::sharding_of<I>>);
static_assert(same<os::varying_as<os::sharding_of<I>, v, w>, both> &&
              same<os::varying_as<os::sharding_of<I>, w, v>, both>);
static_assert(same<os::varying_as<both, v>, both> && same<os::varying_as<os::sharding_of<I>, v, both>, both>);
static_assert(same<os::sharding_of<os::varying(Y), I, os::varying(X)>, both>);
static_assert(same<os::sharding_of<I, os::varying(Y, X)>, both>);
static_assert(same<os::sharding_of<os::varying(X), os::partial(Y), I>,
                   os::sharding<I_axis, os::partial_sum<Y_mesh>, os::varying<X_mesh>>>);

// A mesh axis is used once.
static_assert(!os::is_valid_sharding<os::sharding_of<I/X, os::varying(X)>>);
static_assert(!os::is_valid_sharding<os::sharding_of<I, os::partial(X), os::varying(X)>>);
static_assert(os::is_valid_sharding<os::sharding_of<I/X, os::varying(Y)>>);

}  // namespace
