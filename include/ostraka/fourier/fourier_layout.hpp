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

#include <cstdint>
#include <type_traits>

#include <ostraka/blocks/with_axis.hpp>
#include <ostraka/calls/along.hpp>
#include <ostraka/fourier/fourier_operation.hpp>
#include <ostraka/moves/reshard.hpp>
#include <ostraka/plan/typed/inside.hpp>
#include <ostraka/tensors/tensor.hpp>
#include <ostraka/types/shardings/changed_sharding.hpp>
#include <ostraka/types/values/fourier_kind.hpp>

namespace ostraka::detail {

/// The axes of the result: those of A, with K in the place of I.
template <class Axes, class I, class K>
struct axes_with;
template <class... As, class I, class K>
struct axes_with<type_list<As...>, I, K> {
  using type = type_list<std::conditional_t<std::is_same_v<As, I>, K, As>...>;
};

/// The batch axis that mesh axes divide while rows along `i` are whole; −1 if there is none. It is the axis that they
/// divide in the result; else one that is not divided; else any. Of several, it is the longest, as far as extents are
/// static, else the first.
constexpr int batch_axis(planner::spec const& from, planner::spec const& to, int i, std::int64_t const* extents) {
  planner::mesh_set const moved = from.over[i].axes();
  int best = -1, best_rank = -1;
  std::int64_t best_extent = -1;
  for (int d = 0; d < from.rank; ++d) {
    if (d == i) continue;
    int const rank = (moved - to.over[d].axes()).empty() ? 2 : from.over[d].empty() ? 1 : 0;
    std::int64_t const extent = extents[d] == dynamic_extent ? INT64_MAX : extents[d];
    if (rank > best_rank || (rank == best_rank && extent > best_extent))
      best = d, best_rank = rank, best_extent = extent;
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

/// The layout of rows along `i` during the transform, in the source's order of labels.
/// @pre the same labels in the same order
constexpr planner::spec whole_rows(planner::spec const& from, planner::spec const& to, int i,
                                   std::int64_t const* extents) {
  if (from.over[i].empty()) return from;
  if (is_transposed(from, to, i)) return to;
  planner::spec s = from;
  int const batch = batch_axis(from, to, i, extents);
  if (batch >= 0)
    for (int k = 0; k < from.over[i].size(); ++k) s.over[batch].push_back(from.over[i][k]);
  s.over[i] = {};
  return s;
}

/// The element type of a transform's result.
template <fourier_kind Kind, class T>
struct fourier_element {
  using real = real_of<T>;
  using type = std::conditional_t<has_real_result(Kind), real, Kokkos::complex<real>>;
};

/// The result that a call names: its dimensions, or only the new axis, which then takes the place of I.
template <class Along, class Named, class A>
struct fourier_result {
  using I = typename axis_argument<Along>::axis;
  static constexpr int at = position_in<I, axes_in<A>>;
  static constexpr bool names_all =
      axes_in<Named>::size == A::rank && (A::rank > 1 || sharding_traits<Named>::partials::size > 0);

  template <bool All, class = void>
  struct choose {
    using K = new_axis<axes_in<Named>, axes_in<A>, I>;
    using type = Named;
  };
  template <class Dummy>
  struct choose<false, Dummy> {
    using K = typename type_at<axes_in<Named>, 0>::type;
    using type = with_entry<sharding_in<A>, I, Named>;
  };
  using K = typename choose<names_all>::K;
  using type = typename choose<names_all>::type;
};

/// The layouts of a transform with an ok verdict.
template <class Along, class Named, class A>
struct fourier_layout {
  using result = fourier_result<Along, Named, A>;
  using I = typename result::I;
  using K = typename result::K;
  using target = typename result::type;
  using target_before = with_entry<target, K, typename divided_over<I, splits_of<K, target>>::type>;

  using labels = axes_in<A>;
  using mesh = union_of<mesh_axes_in<A>, mesh_axes_in<target_before>>;
  template <class... As>
  static constexpr planner::spec whole(type_list<As...>) {
    constexpr std::int64_t extents[] = {As::extent...};
    constexpr planner::spec from = spec_of<A, labels, mesh>, to = spec_of<target_before, labels, mesh>;
    constexpr planner::spec s = whole_rows(from, planner::reordered(to, from), result::at, extents);
    return s == from ? s : planner::reordered(s, to);
  }
  /// The layouts during the transform, before and after I becomes K.
  using rows = sharding_from<whole(labels{}), labels, mesh>;
  using rows_behind = with_entry<rows, I, K>;
};

template <class Operation, fourier_kind Kind, class T>
consteval auto check_fourier_elements() {
  constexpr bool is_real = std::is_same_v<T, float> || std::is_same_v<T, double>;
  constexpr bool is_complex = std::is_same_v<T, Kokkos::complex<float>> || std::is_same_v<T, Kokkos::complex<double>>;
  if constexpr (has_half_spectrum(Kind) ? is_real : has_real_result(Kind) ? is_complex : is_real || is_complex)
    return found<reason::ok>{};
  else
    return found<reason::not_transformed<T, Operation>>{};
}

// `reason::ok` unless A has parts of another kind than sums. Partial sums are transformed part by part.
template <class Operation, class A>
consteval auto check_linear() {
  using partials = typename sharding_traits<sharding_in<A>>::partial_entries;
  if constexpr (partials::size == 0) {
    return found<reason::ok>{};
  } else if constexpr (type_at<partials, 0>::type::kind == reduction::sum) {
    return found<reason::ok>{};
  } else {
    using X = typename type_at<typename sharding_traits<sharding_in<A>>::partials, 0>::type;
    return found<reason::partial_in_nonlinear_operation<X, Operation>>{};
  }
}

template <fourier_kind Kind, class I, class K, class Operation>
consteval auto check_static_extents() {
  constexpr std::int64_t whole = has_real_result(Kind) ? K::extent : I::extent;
  constexpr std::int64_t other = has_real_result(Kind) ? I::extent : K::extent;
  if constexpr (whole == dynamic_extent || other == dynamic_extent)
    return found<reason::ok>{};
  else if constexpr (other == (has_half_spectrum(Kind) || has_real_result(Kind) ? whole / 2 + 1 : whole))
    return found<reason::ok>{};
  else
    return found<reason::spectrum_extent_mismatch<I, K, Operation>>{};
}

template <class Operation, fourier_kind Kind, class Along, class Named, class A>
consteval auto check_fourier_names() {
  using axes = axes_in<A>;
  if constexpr (axes_in<Named>::size != 1 && axes_in<Named>::size != A::rank) {
    return found<reason::transform_axes_mismatch<sharding_in<A>, Named, Operation>>{};
  } else {
    using result = fourier_result<Along, Named, A>;
    using I = typename result::I;
    using K = typename result::K;
    using renamed = typename decltype(check_new_name<Operation, Along, K, A>())::type;
    if constexpr (!have_same_types<axes_in<typename result::type>, typename axes_with<axes, I, K>::type>)
      return found<reason::transform_axes_mismatch<sharding_in<A>, Named, Operation>>{};
    else if constexpr (!std::is_same_v<renamed, reason::ok>)
      return found<renamed>{};
    else if constexpr (!std::is_same_v<typename sharding_traits<typename result::type>::verdict, reason::ok>)
      return found<typename sharding_traits<typename result::type>::verdict>{};
    else
      return found<first_fault<
          reshard_verdict<A, varying_as_one<typename fourier_layout<Along, Named, A>::rows, A>>,
          reshard_verdict<A, varying_as_one<typename fourier_layout<Along, Named, A>::target_before, A>>>>{};
  }
}

template <class Operation, fourier_kind Kind, class Along, class Named, class A>
consteval auto check_fourier() {
  using own = first_fault<typename sharding_traits<sharding_in<A>>::verdict, typename sharding_traits<Named>::verdict,
                          blocks_verdict<Named, A>, axis_argument_verdict<Operation, Along, A>,
                          typename decltype(check_fourier_elements<Operation, Kind, typename A::value_type>())::type,
                          typename decltype(check_linear<Operation, A>())::type>;
  if constexpr (!std::is_same_v<own, reason::ok>)
    return found<own>{};
  else
    return check_fourier_names<Operation, Kind, Along, Named, A>();
}

/// `reason::ok`, or the reason why A cannot be transformed so.
template <class Operation, fourier_kind Kind, class Along, class Named, class A>
using fourier_verdict = typename decltype(check_fourier<Operation, Kind, Along, Named, A>())::type;

}  // namespace ostraka::detail
