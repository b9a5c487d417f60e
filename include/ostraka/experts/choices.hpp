// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Tokens and their choices, as types: experts[B_X, S, K] holds, for each token of [B_X, S], the experts to
/// which it goes. A tensor of tokens is x[B_X, S, M], one of choices y[B_X, S, K, M].

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include <ostraka/blocks/make_block.hpp>
#include <ostraka/operations/indices/index_range.hpp>
#include <ostraka/plan/typed/inside.hpp>
#include <ostraka/tensors/after_error.hpp>

namespace ostraka::detail {

/// A sharding without the mesh axes along which it varies.
template <class A>
using lasting_sharding = invariant_over<sharding_in<A>, varying_in<A>>;

template <class Axes>
struct last_axis;
template <class... As>
struct last_axis<type_list<As...>> {
  using type = typename type_at<type_list<As...>, static_cast<int>(sizeof...(As)) - 1>::type;
};

/// The tensor of choices `Experts`, whose last axis counts the choices of a token.
template <class Experts>
struct choices_of {
  using choices = lasting_sharding<Experts>;
  using last = typename last_axis<axes_in<Experts>>::type;
  using tokens = without_axis<choices, last>;

  /// The further axes of a tensor of tokens, or of choices.
  template <class X, bool OfChoices>
  using rest_of = without_axes<lasting_sharding<X>,
                               axes_in<std::conditional_t<OfChoices, choices, tokens>>>;
  template <class X, bool OfChoices>
  static constexpr bool begins =
      std::is_same_v<lasting_sharding<X>,
                     canonical_sharding<std::conditional_t<OfChoices, choices, tokens>, rest_of<X, OfChoices>>>;
  /// True if X is a tensor of choices.
  template <class X>
  static constexpr bool has_choices = position_in<last, axes_in<X>> >= 0;
};

template <class Operation, class Experts>
consteval auto check_choices() {
  if constexpr (Experts::rank == 0) {
    return found<reason::tokens_sharding_mismatch<sharding_in<Experts>, sharding_in<Experts>, Operation>>{};
  } else {
    using last = typename choices_of<Experts>::last;
    if constexpr (splits_of<last, sharding_in<Experts>>::size > 0)
      return found<reason::axis_must_be_whole<last, sharding_in<Experts>, Operation>>{};
    else
      return found<index_verdict<Operation, Experts>>{};
  }
}

/// `reason::ok` if `Experts` can hold the experts to which tokens go.
template <class Operation, class Experts>
using choices_verdict = typename decltype(check_choices<Operation, Experts>())::type;

template <class Operation, class X, class Experts>
consteval auto check_tokens() {
  using own = first_fault<typename sharding_traits<sharding_in<X>>::verdict, whole_values_verdict<Operation, X>,
                          choices_verdict<Operation, Experts>>;
  if constexpr (!std::is_same_v<own, reason::ok>) {
    return found<own>{};
  } else {
    using types = choices_of<Experts>;
    if constexpr (!types::template begins<X, types::template has_choices<X>>)
      return found<reason::tokens_sharding_mismatch<sharding_in<X>, sharding_in<Experts>, Operation>>{};
    else
      return found<reason::ok>{};
  }
}

/// `reason::ok` if X is a tensor of the tokens of `Experts`, or of their choices.
template <class Operation, class X, class Experts>
using tokens_verdict = typename decltype(check_tokens<Operation, X, Experts>())::type;

/// The number of elements on this device for one index of all axes before number `first`.
template <class A>
std::int64_t elements_behind(A const& a, int first) {
  std::int64_t n = 1;
  for (int i = first; i < A::rank; ++i) n *= static_cast<std::int64_t>(a.local().extent(static_cast<std::size_t>(i)));
  return n;
}

/// `reason::ok` if experts are given as an axis, perhaps divided.
template <class Operation, class Dim>
using is_an_axis_verdict = std::conditional_t<std::is_void_v<typename axis_argument<Dim>::axis>,
                                              reason::not_an_axis<Dim, Operation>, reason::ok>;

/// Takes the place of slots or routes that were refused; functions that take it raise no second error.
struct refused_choices {};

template <class X>
using after_refused_choices = after_error_of<typename X::value_type, sharding_in<X>, typename X::space>;

/// Extents of axes: of the tensor, on this device, and the origins of a block's extents.
template <class Axes>
struct extents_of_axes {
  using axes = Axes;
  static constexpr auto count = static_cast<std::size_t>(Axes::size);
  std::array<std::int64_t, count> whole{}, local{};
  std::array<extent_origin, count> origins{};
};

template <class A>
extents_of_axes<axes_in<A>> extents_of_axes_in(A const& a) {
  extents_of_axes<axes_in<A>> e;
  for (std::size_t i = 0; i < e.count; ++i) {
    e.whole[i] = a.extents()[i];
    e.local[i] = static_cast<std::int64_t>(a.local().extent(i));
    if constexpr (varying_in<A>::size > 0) e.origins[i] = a.origins()[i];
  }
  return e;
}

/// An uninitialised tensor. Each axis has its extents from the first of `known` that has the axis.
template <class Result, class... Extents>
Result make_of_axes(std::shared_ptr<engine::device_mesh const> const& mesh, Extents const&... known) {
  extents_of_axes<axes_in<Result>> all;
  std::size_t i = 0;
  auto const enter = [&]<class A>(std::type_identity<A>) {
    bool found = false;
    auto const look = [&](auto const& e) {
      constexpr int at = position_in<A, typename std::remove_cvref_t<decltype(e)>::axes>;
      if constexpr (at >= 0) {
        if (std::exchange(found, true)) return;
        constexpr auto k = static_cast<std::size_t>(at);
        all.whole[i] = e.whole[k], all.local[i] = e.local[k], all.origins[i] = e.origins[k];
      }
    };
    (look(known), ...);
    ++i;
  };
  [&]<class... As>(type_list<As...>) { (enter(std::type_identity<As>{}), ...); }(axes_in<Result>{});
  extent_origins<Result::rank> origins{};
  if constexpr (varying_in<Result>::size > 0)
    for (std::size_t k = 0; k < all.count; ++k) origins[k] = all.origins[k];
  return make_block<Result>(mesh, all.whole, all.local.data(), origins);
}

}  // namespace ostraka::detail
