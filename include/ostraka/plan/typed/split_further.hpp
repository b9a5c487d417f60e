// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. A sharding divided over more mesh axes, along its longest axis: the sharding of an optimiser's state, or of
/// a gradient, for a parameter that is whole.
///
///     [I, J], 64 x 256       over X     [I, J_X]
///     [I_Y, J], 64 x 256     over X     [I_Y, J_X]
///     [I_X, J]               over X     [I_X, J]      X is already in use

#include <type_traits>

#include <ostraka/plan/typed/nominal.hpp>
#include <ostraka/plan/typed/to_spec.hpp>
#include <ostraka/types/shardings/changed_sharding.hpp>

namespace ostraka::detail {

/// The axis with the longest blocks at the extents for which plans are made; the first one if there are several.
template <class Sharding>
consteval int longest_axis() {
  using labels = typename sharding_traits<Sharding>::axes;
  using mesh = typename sharding_traits<Sharding>::mesh_axes;
  constexpr planner::extents e = planner::nominal_sizes(planned_sizes(labels{}, mesh{}));
  constexpr planner::spec s = spec_of<Sharding, labels, mesh>;
  int longest = 0;
  double most = -1;
  for (int i = 0; i < s.rank; ++i) {
    double n = static_cast<double>(e.label[s.label[i]]);
    for (int k = 0; k < s.over[i].size(); ++k) n /= static_cast<double>(e.mesh[s.over[i][k]]);
    if (n > most) longest = i, most = n;
  }
  return longest;
}

template <class Axis, class Splits, class X>
struct entry_over;
template <class Axis, class... Ms, class X>
struct entry_over<Axis, type_list<Ms...>, X> {
  using type = over<Axis, Ms..., X>;
};

/// The sharding with its longest axis also divided over these mesh axes. Skips mesh axes that are in use.
template <class Sharding, class... Xs>
struct split_further {
  using type = Sharding;
};
template <class Sharding, class X, class... Xs>
struct split_further<Sharding, X, Xs...> {
  static consteval auto once() {
    using axes = typename sharding_traits<Sharding>::axes;
    if constexpr (axes::size == 0 || position_in<X, typename sharding_traits<Sharding>::mesh_axes> >= 0) {
      return std::type_identity<Sharding>{};
    } else {
      using longest = typename type_at<axes, longest_axis<Sharding>()>::type;
      using entry = typename entry_over<longest, splits_of<longest, Sharding>, X>::type;
      return std::type_identity<with_entry<Sharding, longest, entry>>{};
    }
  }
  using type = typename split_further<typename decltype(once())::type, Xs...>::type;
};

}  // namespace ostraka::detail
