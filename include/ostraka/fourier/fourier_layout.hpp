// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The layouts of a tensor before, during and after a transform along an axis I, which becomes K. Rows are
/// whole during the transform, so the mesh axes that divide I divide a batch axis meanwhile:
///
///     A               named        transformed as    result          moves
///     [I, J_X]        K            [I, J_X]          [K, J_X]        nothing
///     [I_X, J]        K, J/X       [I, J_X]          [K, J_X]        one all-to-all
///     [I, J_X]        K/X, J       [I, J_X]          [K_X, J]        one all-to-all
///     [I_X, J]        K/X          [I, J_X]          [K_X, J]        two all-to-alls
///     [I_X, J]        J/X, K       [J_X, I]          [J_X, K]        one all-to-all, which also transposes
///     [I_X]           K/X          [I]               [K_X]           one all-gather: there is no batch axis
///
/// If the result is named in another order of axes, the first move puts them into it: before the transform if I is
/// divided, after it if not.
///
/// Several axes are transformed in stages; each stage transforms the axes that are whole then. So each axis is a batch
/// axis of the others, before or after its own transform:
///
///     A                     named              stages                                           moves
///     [I_X, J, L]           KI, KJ/X, KL       J and L of [I_X, J, L]; I of [I, KJ_X, KL]       one all-to-all
///     [I_X, J_Y, L]         KI, KJ/X, KL/Y     L; J of [I_X, J, KL_Y]; I of [I, KJ_X, KL_Y]     two all-to-alls

#include <cstdint>
#include <type_traits>
#include <utility>

#include <ostraka/blocks/with_axis.hpp>
#include <ostraka/calls/along.hpp>
#include <ostraka/fourier/fourier_operation.hpp>
#include <ostraka/moves/reshard.hpp>
#include <ostraka/plan/typed/inside.hpp>
#include <ostraka/tensors/tensor.hpp>
#include <ostraka/types/shardings/changed_sharding.hpp>
#include <ostraka/types/values/fourier_kind.hpp>

namespace ostraka::detail {

/// The axes of A, with the axes Ks in place of the axes Is, one for one.
template <class Axes, class Is, class Ks>
struct axes_with;
template <class... As, class Is, class Ks>
struct axes_with<type_list<As...>, Is, Ks> {
  template <class A>
  static auto renamed() {
    if constexpr (constexpr int at = position_in<A, Is>; at >= 0)
      return typename type_at<Ks, at>::type();
    else
      return A();
  }
  using type = type_list<decltype(renamed<As>())...>;
};

/// Axes by their places in a tensor.
struct axis_set {
  bool has[max_rank] = {};

  [[nodiscard]] constexpr int size() const {
    int n = 0;
    for (bool const b : has) n += b ? 1 : 0;
    return n;
  }
};

/// A batch axis, and how well it suits the mesh axes that divide the transformed axis. See batch_axis.
struct batch_choice {
  int axis = -1;
  int rank = -1;
  static constexpr int goes_home = 3;
};

/// The batch axis that mesh axes divide while rows along `i` are whole; −1 if there is none. It is the axis that they
/// divide in the result; else one that is not divided; else any; and none that waits for its own transform unless all
/// do. Of several, it is the longest, as far as extents are static, else the first.
constexpr batch_choice batch_axis(planner::spec const& from, planner::spec const& to, int i, axis_set const& waiting,
                                  std::int64_t const* extents) {
  planner::mesh_set const moved = from.over[i].axes();
  batch_choice best;
  std::int64_t best_extent = -1;
  for (int d = 0; d < from.rank; ++d) {
    if (d == i) continue;
    bool const goes_home = (moved - to.over[d].axes()).empty();
    int const rank = waiting.has[d] ? 0 : goes_home ? batch_choice::goes_home : from.over[d].empty() ? 2 : 1;
    std::int64_t const extent = extents[d] == dynamic_extent ? INT64_MAX : extents[d];
    if (rank > best.rank || (rank == best.rank && extent > best_extent)) best = {d, rank}, best_extent = extent;
  }
  return best;
}

/// True if the mesh axes that divide `i` before divide batch axes afterwards, and `i` is whole then.
constexpr bool is_transposed(planner::spec const& from, planner::spec const& to, int i) {
  planner::mesh_set left = from.over[i].axes();
  for (int d = 0; d < to.rank; ++d)
    if (d != i) left = left - to.over[d].axes();
  return to.over[i].empty() && left.empty();
}

/// The layout of rows along `i` during the transform, in the source's order of labels. `waiting`: the other axes that
/// are transformed after it.
/// @pre the same labels in the same order
constexpr planner::spec whole_rows(planner::spec const& from, planner::spec const& to, int i, axis_set const& waiting,
                                   std::int64_t const* extents) {
  if (from.over[i].empty()) return from;
  if (waiting.size() == 0 && is_transposed(from, to, i)) return to;
  planner::spec s = from;
  int const batch = batch_axis(from, to, i, waiting, extents).axis;
  if (batch >= 0)
    for (int k = 0; k < from.over[i].size(); ++k) s.over[batch].push_back(from.over[i][k]);
  s.over[i] = {};
  return s;
}

/// Axes that are transformed together, while they are whole.
struct fourier_stage {
  planner::spec layout;
  int axes[max_rank] = {};  // in the order of their transforms, counted in the order of the call's
  int count = 0;
};

struct fourier_stages {
  fourier_stage stage[max_rank];
  int count = 0;
};

/// The stages of transforms along these axes, in this order, except that two kinds come first: axes that are whole, and
/// axes whose mesh axes move to their places in the result. `real_first`, `real_last`: the first axis has to stay the
/// first, the last one the last, since numbers are real before or after it.
/// @pre the same labels in the same order
constexpr fourier_stages stages_of(planner::spec const& from, planner::spec const& to, int const* axes, int count,
                                   bool real_first, bool real_last, std::int64_t const* extents) {
  fourier_stages all;
  planner::spec at = from;
  axis_set waiting;
  for (int k = 0; k < count; ++k) waiting.has[axes[k]] = true;
  auto const may_be_next = [&](int k) {
    if (!waiting.has[axes[k]]) return false;
    return k == 0 || ((!real_first || !waiting.has[axes[0]]) && (!real_last || k < count - 1 || waiting.size() == 1));
  };
  auto const without = [&](int axis) {
    axis_set others = waiting;
    others.has[axis] = false;
    return others;
  };
  while (waiting.size() > 0) {
    fourier_stage s{at};
    for (int k = 0; k < count; ++k)
      if (may_be_next(k) && at.over[axes[k]].empty()) s.axes[s.count++] = k, waiting.has[axes[k]] = false;
    if (s.count > 0) {
      all.stage[all.count++] = s;
      continue;
    }
    int next = -1;
    for (int k = count - 1; k >= 0; --k)
      if (may_be_next(k)) next = k;
    for (int k = count - 1; k >= 0; --k)
      if (may_be_next(k) && batch_axis(at, to, axes[k], without(axes[k]), extents).rank == batch_choice::goes_home)
        next = k;
    at = whole_rows(at, to, axes[next], without(axes[next]), extents);
  }
  return all;
}

/// The element type of a transform's result.
template <fourier_kind Kind, class T>
struct fourier_element {
  using real = real_of<T>;
  using type = std::conditional_t<has_real_result(Kind), real, Kokkos::complex<real>>;
};

/// A sharding with the entries of `Named` in place of the axes, in order; further entries, for partial sums, come at
/// the end.
template <class Sharding, class Axes, class Named>
struct with_entries {
  using type = with_entries_last<Sharding, Named>;
};
template <class Sharding, class I, class... Is, class E, class... Es>
struct with_entries<Sharding, type_list<I, Is...>, sharding<E, Es...>>
    : with_entries<with_entry<Sharding, I, E>, type_list<Is...>, sharding<Es...>> {};

/// The result that a call names: its dimensions, or only the new axes, which then take the places of the old ones. `Is`
/// are the old axes, and `Ks` the new ones, in the same order.
template <class Along, class Named, class A>
struct fourier_result {
  using Is = transformed_axes<Along>;
  static constexpr bool names_all =
      axes_in<Named>::size == A::rank && (A::rank > 1 || sharding_traits<Named>::partials::size > 0);
  using Ks = std::conditional_t<names_all, new_axes<axes_in<Named>, axes_in<A>, Is>, axes_in<Named>>;

  template <bool All, class = void>
  struct choose {
    using type = Named;
  };
  template <class Dummy>
  struct choose<false, Dummy> : with_entries<sharding_in<A>, Is, Named> {};
  using type = typename choose<names_all>::type;
};

/// A sharding with the axes Ks renamed to the axes Is, one for one, each divided as before.
template <class Sharding, class Is, class Ks>
struct named_before {
  using type = Sharding;
};
template <class Sharding, class I, class... Is, class K, class... Ks>
struct named_before<Sharding, type_list<I, Is...>, type_list<K, Ks...>>
    : named_before<with_entry<Sharding, K, typename divided_over<I, splits_of<K, Sharding>>::type>, type_list<Is...>,
                   type_list<Ks...>> {};

/// The layouts of a transform with an ok verdict.
template <fourier_kind Kind, class Along, class Named, class A>
struct fourier_layout {
  using result = fourier_result<Along, Named, A>;
  using Is = typename result::Is;
  using Ks = typename result::Ks;
  using target = typename result::type;
  using target_before = typename named_before<target, Is, Ks>::type;

  using labels = axes_in<A>;
  using mesh = union_of<mesh_axes_in<A>, mesh_axes_in<target_before>>;
  static constexpr planner::spec from = spec_of<A, labels, mesh>, to = spec_of<target_before, labels, mesh>;

  /// The number, in the call, of the axis that is transformed as the k-th if nothing moves.
  static constexpr int axis(int k) { return begins_with_last_axis(Kind) ? Is::size - 1 - k : k; }

  template <class... As, class... Old>
  static constexpr fourier_stages make_stages(type_list<As...>, type_list<Old...>) {
    constexpr std::int64_t extents[] = {As::extent...};
    constexpr int given[] = {position_in<Old, labels>...};
    int order[sizeof...(Old)] = {};
    for (int k = 0; k < Is::size; ++k) order[k] = given[axis(k)];
    return stages_of(from, planner::reordered(to, from), order, Is::size, has_half_spectrum(Kind),
                     has_real_result(Kind), extents);
  }
  static constexpr fourier_stages stages = make_stages(labels{}, Is{});

  /// The types in a list at the places of the axes that a stage transforms, in the order of their transforms.
  template <int Stage, class List>
  struct of_stage {
    template <int... k>
    static auto list(std::integer_sequence<int, k...>)
        -> type_list<typename type_at<List, axis(stages.stage[Stage].axes[k])>::type...>;
    using type = decltype(list(std::make_integer_sequence<int, stages.stage[Stage].count>{}));
  };
  /// The same for all stages before.
  template <int Stage, class List>
  struct of_stages_before {
    template <int... s>
    static auto list(std::integer_sequence<int, s...>) -> concatenation_of<typename of_stage<s, List>::type...>;
    using type = decltype(list(std::make_integer_sequence<int, Stage>{}));
  };
  template <int Stage, class List>
  using transformed_in = typename of_stage<Stage, List>::type;
  template <int Stage, class List>
  using transformed_before = typename of_stages_before<Stage, List>::type;

  /// True if a stage transforms the last axis of the call, whose numbers are real before or after it.
  template <int Stage>
  static constexpr bool has_last = [] {
    for (int k = 0; k < stages.stage[Stage].count; ++k)
      if (axis(stages.stage[Stage].axes[k]) == Is::size - 1) return true;
    return false;
  }();

  static constexpr planner::spec ordered(planner::spec const& s) { return s == from ? s : planner::reordered(s, to); }
  /// The layout during a stage; `Before`: with the names that the axes have before another.
  template <int Stage, int Before = Stage>
  using rows =
      sharding_from<ordered(stages.stage[Stage].layout),
                    typename axes_with<labels, transformed_before<Before, Is>, transformed_before<Before, Ks>>::type,
                    mesh>;
};

}  // namespace ostraka::detail
