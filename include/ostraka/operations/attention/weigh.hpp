// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Products of attention's weights with values that ignore terms with a weight of 0: a value that a mask hides
/// may be NaN. Each device corrects its own sums (engine/sequences/repair_weighted_sums.hpp) before partial sums are
/// combined, so that devices need not exchange which values were NaN:
///
///     W [Q, K]      V [K, E]      → [Q, E]             nothing moved: the product, mended
///     W [Q, K_X]    V [K_X, E]    → [Q, E]             the product as [Q, E] {U_X}, mended; all-reduce<X>
///     W [Q_X, K]    V [K_X, E]    → [Q_X, E]           all-gather<X> of the values first; the product, mended

#include <cstdint>
#include <type_traits>

#include <ostraka/algebra/einsum.hpp>
#include <ostraka/engine/sequences/repair_weighted_sums.hpp>
#include <ostraka/types/shardings/changed_sharding.hpp>

namespace ostraka::detail {

template <class Axis, class MeshAxes>
struct entry_divided_by;
template <class Axis>
struct entry_divided_by<Axis, type_list<>> {
  using type = Axis;
};
template <class Axis, class... Ms>
struct entry_divided_by<Axis, type_list<Ms...>> {
  using type = over<Axis, Ms...>;
};

/// The sharding of the product if nothing moves: each axis keeps an operand's division, with summands over the mesh
/// axes that divide the summed axes.
template <class Out, class W, class V>
struct product_in_place {
  using kept = typename sharding_traits<Out>::axes;
  using gone = difference_of<union_of<axes_in<W>, axes_in<V>>, kept>;

  template <class A>
  using own_splits = std::conditional_t<(splits_of<A, sharding_in<W>>::size > 0), splits_of<A, sharding_in<W>>,
                                        splits_of<A, sharding_in<V>>>;
  template <class... As>
  static auto splits_of_all(type_list<As...>) -> concatenation_of<type_list<>, own_splits<As>...>;
  using summands = decltype(splits_of_all(gone{}));

  template <class... As>
  static auto divided(type_list<As...>) -> canonical_sharding<typename entry_divided_by<As, own_splits<As>>::type...>;
  template <class Divided, class... Ms>
  static auto in_parts(Divided, type_list<Ms...>) -> canonical_sharding<Divided, partial_sum<Ms...>>;
  template <class Divided>
  static auto in_parts(Divided, type_list<>) -> Divided;
  using type = varying_as<decltype(in_parts(decltype(divided(kept{})){}, summands{})), W, V>;
};

/// True if the product reaches this sharding without a move.
template <class Out, class W, class V>
consteval bool is_reached_in_place() {
  if constexpr (std::is_same_v<typename sharding_traits<Out>::verdict, reason::ok>)
    return std::is_same_v<einsum_verdict<Out, policy<planner::admit::no_communication>, W, V>, reason::ok>;
  else
    return false;
}

/// True if each device sums all terms of its block, or of its part of the block.
template <class Out, class W, class V>
inline constexpr bool is_product_in_place =
    difference_of<typename sharding_traits<Out>::partials, typename product_in_place<Out, W, V>::summands>::size == 0 &&
    is_reached_in_place<Out, W, V>();

/// The sharding of values that are multiplied with weights in place: the weights' division along common axes, and along
/// other axes only mesh axes that do not divide the weights.
template <class W, class V>
struct values_that_meet {
  using of_weights = typename sharding_traits<sharding_in<W>>::splits;
  template <class A>
  using own = splits_of<A, sharding_in<V>>;
  template <class A>
  using splits = std::conditional_t<
      (position_in<A, axes_in<W>> >= 0), splits_of<A, sharding_in<W>>,
      std::conditional_t<difference_of<own<A>, of_weights>::size == own<A>::size, own<A>, type_list<>>>;
  template <class... As>
  static auto divided(type_list<As...>) -> canonical_sharding<typename entry_divided_by<As, splits<As>>::type...>;
  using type = varying_as<decltype(divided(axes_in<V>{})), V>;
};

template <class W, class V, class Sums>
[[gnu::cold, gnu::noinline]] void sum_visible(char const* name, W const& weights, V const& values, Sums const& sums) {
  using labels = union_of<axes_in<W>, axes_in<V>>;
  using mesh = union_of<mesh_axes_in<W>, union_of<mesh_axes_in<V>, mesh_axes_in<Sums>>>;
  engine::execution_context const w = context_of<labels, mesh>(name, weights, values);
  engine::repair_weighted_sums(execution_space_of<Sums>(), w, spec_of<W, labels, mesh>, spec_of<V, labels, mesh>,
                               spec_of<Sums, labels, mesh>, elements_of(weights), elements_of(values),
                               sums.local().data());
}

/// Corrects sums in which a weight of 0 met NaN or infinity. @pre `sums` is the product of these blocks
template <class W, class V, class Sums>
void repair_sums(char const* name, W const& weights, V const& values, Sums const& sums) {
  auto const size_of = [](auto const& a) { return static_cast<std::int64_t>(a.local().size()); };
  if (engine::may_involve_nan(execution_space_of<Sums>(), elements_of(values), size_of(values), elements_of(sums),
                              size_of(sums)))
    sum_visible(name, weights, values, sums);
}

template <class Out, class A>
auto moved_to(char const* name, A const& a) {
  return einsum_of<Out, policy<planner::admit::any>, reduction::sum, type_list<A>>::run(name, {}, a);
}

/// Returns weights · values in this sharding. `hides`: a mask has set some weights to 0.
template <class Out, class Policy, class W, class V>
auto weigh(char const* name, bool hides, W const& weights, V const& values) {
  using straight = einsum_of<Out, Policy, reduction::sum, type_list<W, V>>;
  if constexpr (is_product_in_place<Out, W, V>) {
    auto const result = straight::run(name, {}, weights, values);
    if (hides) repair_sums(name, weights, values, result);
    return result;
  } else {
    if (!hides) return straight::run(name, {}, weights, values);
    using in_place = typename product_in_place<Out, W, V>::type;
    using met = typename values_that_meet<W, V>::type;
    if constexpr (is_reached_in_place<in_place, W, V>()) {
      auto const parts =
          einsum_of<in_place, policy<planner::admit::no_communication>, reduction::sum, type_list<W, V>>::run(
              name, {}, weights, values);
      repair_sums(name, weights, values, parts);
      return moved_to<Out>(name, parts);
    } else {
      static_assert(!std::is_same_v<met, sharding_in<V>>);
      return weigh<Out, policy<planner::admit::any>>(name, hides, weights, moved_to<met>(name, values));
    }
  }
}

}  // namespace ostraka::detail
