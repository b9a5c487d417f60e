// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::segment_sum<I, S>(data, ids, S = n)`: the sum of the rows of each segment, out[s, D] = Σ data[i, D]
/// over the i with ids[i] = s. S takes the place of the axis I. It is an os::scatter_add over I. If mesh axes divide I,
/// the summands of a segment are on several devices, and the call names the result.
///
///     segment_sum<I, S>             [I, D_Y]    [I]      → [S, D_Y]        nothing moved
///     segment_sum<I, S, S, D>       [I_X, D]    [I_X]    → [S, D]          all_reduce<X>
///     segment_sum<I, S, S/X, D>     [I_X, D]    [I_X]    → [S_X, D]        reduce_scatter<S/X>

#include <type_traits>

#include <ostraka/operations/indices/scatter_add.hpp>
#include <ostraka/plan/typed/inside.hpp>

namespace ostraka {

namespace operation {

/// Adds rows as os::scatter_add does.
template <class S, class Out, class Range = detail::checked_range>
struct segment_sum : detail::adds_rows<segment_sum<S, Out, Range>, S, Out, Range> {
  static constexpr char const* name = "segment_sum";
};

}  // namespace operation

namespace detail {

/// The result if the call names none: S in place of I, the other axes unchanged.
template <class I, class S, class Data, auto... Out>
struct segments_named {
  using type = sharding_of<Out...>;
};
template <class I, class S, class Data>
struct segments_named<I, S, Data> {
  using type = invariant_over<with_entry<sharding_in<Data>, I, S>, varying_in<Data>>;
};

template <class Operation, class I, class Data, class Ids>
consteval auto check_segment_axis() {
  if constexpr (!Axis<I>)
    return found<reason::not_an_axis<I, Operation>>{};
  else if constexpr (position_in<I, axes_in<Data>> < 0)
    return found<reason::axis_missing<I, sharding_in<Data>>>{};
  else if constexpr (position_in<I, axes_in<Ids>> < 0)
    return found<reason::axis_missing<I, sharding_in<Ids>>>{};
  else
    return found<reason::ok>{};
}

template <class S, class Out, class Data, class Ids>
consteval bool sums_without_communication() {
  using types = scatter_types<S, Out, Data, Ids>;
  using result = varying_as<Out, Data, Ids>;
  return reshard_types<Data, typename types::rows_sharding>::plan.communications() == 0 &&
         reshard_types<Ids, typename types::index_sharding>::plan.communications() == 0 &&
         reshard_types<typename types::local_sharding, result>::plan.communications() == 0;
}

/// `Named`: the program names the result, and so authorises its moves.
template <class I, class S, class Out, bool Named, class Data, class Ids>
consteval auto check_segments() {
  using operation = ostraka::operation::segment_sum<S, Out>;
  using axis = typename decltype(check_segment_axis<operation, I, Data, Ids>())::type;
  if constexpr (!std::is_same_v<axis, reason::ok>) {
    return found<axis>{};
  } else {
    using sums = typename operation::template verdict<Data, Ids>;
    if constexpr (!std::is_same_v<sums, reason::ok>)
      return found<sums>{};
    else if constexpr (position_in<I, axes_in<Out>> >= 0)
      return found<reason::summed_axis_in_result<I, S, Out>>{};
    else if constexpr (!Named && !sums_without_communication<S, Out, Data, Ids>())
      return found<reason::segments_are_on_several_devices<I, S, sharding_in<Data>, sharding_in<Ids>>>{};
    else
      return found<reason::ok>{};
  }
}

template <class I, class S, class Out, bool Named, class Data, class Ids>
using segments_verdict = typename decltype(check_segments<I, S, Out, Named, Data, Ids>())::type;

}  // namespace detail

/// The sum of the rows of each segment, `os::segment_sum<I, S>(data, ids, S = 10)`: S takes the place of data's axis I.
/// If I is divided, name the result's dimensions, too: `os::segment_sum<I, S, S/X, D>`, or with os::partial(X) for
/// the devices' own sums. As in os::scatter_add, ids are checked, on all devices alike, unless os::in_range follows.
template <auto I, auto S, auto... Out, TensorOrVariable Data, TensorOrVariable Ids, class... Given>
[[nodiscard]] constexpr auto segment_sum(Data const& data, Ids const& ids, Given const&... given) {
  using gone = detail::type_of<I>;
  using comes = detail::type_of<S>;
  using out = typename detail::segments_named<gone, comes, Data, Out...>::type;
  using verdict = detail::first_fault<detail::segments_verdict<gone, comes, out, (sizeof...(Out) > 0), Data, Ids>,
                                      detail::extent_beside_range<(varying_in<Data>::size > 0), comes, Given...>>;
  if constexpr (reason::ok_or_raise<verdict>()) {
    operation::segment_sum<comes, out, detail::range_among<Given...>> how;
    auto const extents = collect_sizes(detail::extents_beside<detail::is_option<Given>>(given)...);
    how.extent = detail::checked_extent<(varying_in<Data>::size > 0), comes>(extents, how.name);
    (detail::find_origin<comes>(how.origin, given), ...);
    return detail::operate(how, data, ids);
  } else {
    return detail::after_error_of<typename Data::value_type, out, typename Data::space>();
  }
}

}  // namespace ostraka
