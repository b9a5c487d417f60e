// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Reads the arguments that name arrays of another distribution, after a tensor or its extents, into one
/// form: a range of placed arrays and their block-cyclic distribution, if they have one.

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include <ostraka/arrays/foreign/foreign_places.hpp>
#include <ostraka/engine/foreign_blocks/arrays_fit.hpp>
#include <ostraka/engine/foreign_blocks/exchange_foreign.hpp>

namespace ostraka::detail {

/// Stands in for a block-cyclic distribution if the arrays are boxes.
struct not_cyclic {};

/// The arrays of this device. `Cyclic`: `dealt_blocks`, or `not_cyclic`. `Range`: a range of placed arrays; in a
/// block-cyclic distribution it holds one array, without a place.
template <class Cyclic, class Range>
struct foreign_arrays {
  using cyclic_type = Cyclic;
  using placed_type = placed_in<Range>;
  using array_type = decltype(placed_type::array);

  Cyclic const& cyclic;
  Range const& range;
};

// The number of arguments at the end that name arrays; 0 if none do.
template <class Before, class Place, class Last>
consteval int arguments_of_arrays() {
  if constexpr (PlacedRange<Last> || is_placed<Last>)
    return 1;
  else if constexpr (is_block_cyclic<Place> || is_position<Place>)
    return 2;
  else if constexpr (is_sizes<Place> && is_position<Before>)
    return 3;
  else
    return 0;
}

// The type of argument number N; void before the first argument.
template <int N, class... Given>
using argument_at = typename type_at<type_list<void, void, void, std::remove_cvref_t<Given>...>, N + 3>::type;

template <class... Given>
inline constexpr int number_of_extents = [] {
  constexpr int n = static_cast<int>(sizeof...(Given));
  constexpr int taken =
      arguments_of_arrays<argument_at<n - 3, Given...>, argument_at<n - 2, Given...>, argument_at<n - 1, Given...>>();
  return taken == 0 ? -1 : n - taken;
}();

/// Returns f(arrays) for the arrays that the tuple names from argument `Extents` on.
template <int Extents, class Arguments, class F>
decltype(auto) with_foreign_arrays(Arguments const& arguments, F const& f) {
  constexpr auto first = static_cast<std::size_t>(Extents);
  constexpr std::size_t taken = std::tuple_size_v<Arguments> - first;
  auto const& one = std::get<first>(arguments);
  using first_type = std::remove_cvref_t<decltype(one)>;
  if constexpr (is_block_cyclic<first_type>) {
    single_placed const range{placed(at(), std::get<first + 1>(arguments))};
    return f(foreign_arrays<first_type, decltype(range)>{one, range});
  } else if constexpr (taken == 1 && !is_placed<first_type>) {
    return f(foreign_arrays<not_cyclic, first_type>{not_cyclic{}, one});
  } else {
    single_placed const range{[&] {
      if constexpr (taken == 1)
        return one;
      else if constexpr (taken == 2)
        return placed(one, std::get<first + 1>(arguments));
      else
        return placed(one, std::get<first + 1>(arguments), std::get<first + 2>(arguments));
    }()};
    return f(foreign_arrays<not_cyclic, decltype(range)>{not_cyclic{}, range});
  }
}

template <class TensorType, class Arrays>
consteval auto check_foreign_arrays() {
  using placed = typename Arrays::placed_type;
  if constexpr (std::is_same_v<typename Arrays::cyclic_type, not_cyclic>) {
    return found<typename placed_verdict<TensorType, placed>::type>{};
  } else {
    using fault = typename decltype(check_foreign_array<TensorType, typename Arrays::array_type>())::type;
    return found<first_fault<fault, typename dealt_verdict<TensorType, typename Arrays::cyclic_type>::type>>{};
  }
}

/// `reason::ok`, or the reason why a tensor cannot be copied from these arrays.
template <class TensorType, class Arrays>
using foreign_verdict = typename decltype(check_foreign_arrays<TensorType, Arrays>())::type;

template <class Element>
consteval auto check_writable_elements() {
  if constexpr (std::is_const_v<Element>)
    return found<reason::elements_are_constant<Element>>{};
  else
    return found<reason::ok>{};
}
template <class Arrays>
using written_verdict =
    typename decltype(check_writable_elements<typename given_array<typename Arrays::array_type>::element>())::type;

// Reads the extents that are given with strided memory.
template <class Sizes, class... As>
void extents_at([[maybe_unused]] Sizes const& given, type_list<As...>, [[maybe_unused]] std::int64_t* extents) {
  [[maybe_unused]] int d = 0;
  ((extents[d++] = given.template of<As>()), ...);
}

template <class A, class... Is>
std::int64_t begin_along(sizes<Is...> const& begin) {
  if constexpr (is_one_of<A, Is...>)
    return begin.template of<A>();
  else
    return 0;
}

/// Describes an array at its place. `wanted`: the extents of memory that has none, if they are known otherwise.
template <class Placed, class... As>
engine::given_array_of_box inspect_placed(Placed const& placed, type_list<As...> axes, std::int64_t const* wanted) {
  std::int64_t extents[max_rank + 1]{};
  if constexpr (decltype(Placed::extents)::names::size > 0) {
    extents_at(placed.extents, axes, extents);
    wanted = extents;
  }
  engine::given_array_of_box seen;
  seen.lies = describe_block(axes, placed.array, wanted);
  seen.misaligned = missing_alignment(placed.array);
  if constexpr (sizeof...(As) > 0) {
    std::int64_t const begin[] = {begin_along<As>(placed.at.begin)...};
    for (std::size_t d = 0; d < sizeof...(As); ++d) seen.begin[d] = begin[d];
  }
  return seen;
}

/// Describes all arrays of this device. `own`: the boxes that it holds, if they are known otherwise.
template <class TensorType, class Arrays, class T>
void inspect_arrays(Arrays const& arrays, dynamic_array<planner::box> const* own,
                    dynamic_array<engine::given_array_of_box>& given, dynamic_array<engine::foreign_array<T>>& where) {
  given.clear();
  where.clear();
  for (auto const& placed : arrays.range) {
    std::int64_t wanted[max_rank + 1]{};
    if (own != nullptr && given.size() < own->size())
      for (int d = 0; d < TensorType::rank; ++d) wanted[d] = (*own)[given.size()].at[d].size();
    given.push_back(inspect_placed(placed, typename TensorType::axes{}, wanted));
    engine::foreign_array<T> array{data_of(placed.array), {}};
    for (int d = 0; d < TensorType::rank; ++d) array.stride[d] = given[given.size() - 1].lies.stride[d];
    where.push_back(array);
  }
}

}  // namespace ostraka::detail
