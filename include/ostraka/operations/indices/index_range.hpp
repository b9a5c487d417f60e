// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The requirements of operations by an index tensor: integers, each of them an index of the axis into which
/// it points. Indices are checked before anything moves, and the error on all ranks names one that is out of range:
///     index               sends
///     [I] replicated      nothing
///     [I_X]               8 bytes agree over X
///     any, os::in_range   nothing: the program promises it; an index that breaks the promise reads zeros and adds
///                         nothing

#include <cstdint>
#include <string_view>
#include <type_traits>

#include <ostraka/calls/along.hpp>
#include <ostraka/calls/context.hpp>
#include <ostraka/calls/moves_of_parts.hpp>
#include <ostraka/creation/creation_options.hpp>
#include <ostraka/engine/agreement/check_indices.hpp>
#include <ostraka/moves/reshard.hpp>
#include <ostraka/tensors/after_error.hpp>

namespace ostraka {

namespace detail {

/// Indices are checked (checked_range), unless the program promises their range (promised_range).
struct checked_range {};
struct promised_range {};
template <>
inline constexpr bool is_option<promised_range> = true;

}  // namespace detail

/// An option after the operands: the program promises that all indices are in range, so they are not checked, and the
/// check sends nothing.
inline constexpr detail::promised_range in_range{};

namespace detail {

template <class R>
concept IndexRange = is_one_of<R, checked_range, promised_range>;

/// The arguments after the operands of index operations that make an axis: os::in_range, and the extent of the axis.
template <class... Given>
using range_among = std::conditional_t<(std::is_same_v<Given, promised_range> || ...), promised_range, checked_range>;
template <bool IsBlock, class I, class... Given>
using extent_beside_range = typename decltype(check_extents_given<IsBlock>(
    type_list<I>{}, type_list<given_beside<std::is_same_v<Given, promised_range>, Given>...>{}))::type;

template <class Operation, class Index>
consteval auto check_index_elements() {
  using element = typename Index::value_type;
  if constexpr (!std::is_integral_v<element> || std::is_same_v<element, bool>)
    return found<reason::index_is_not_an_integer<element, Operation>>{};
  else
    return found<reason::ok>{};
}

/// `reason::ok`, or the reason why a tensor cannot be an index.
template <class Operation, class Index>
using index_verdict = first_fault<typename sharding_traits<sharding_in<Index>>::verdict,
                                  typename decltype(check_index_elements<Operation, Index>())::type,
                                  whole_values_verdict<Operation, Index>>;

/// The mesh axes along which blocks of the index differ.
template <class Index>
using differing_axes = union_of<mesh_axes_in<Index>, varying_in<Index>>;

/// Throws, on all devices alike and before anything moves, unless every index is one of 0 … extent−1 along the axis of
/// that name. `Also`: mesh axes along which the extent of a block may differ.
template <class Range, class Also = type_list<>, class Index>
void check_range(char const* operation, [[maybe_unused]] Index const& index, [[maybe_unused]] std::string_view axis,
                 [[maybe_unused]] std::int64_t extent) {
  if constexpr (std::is_same_v<Range, checked_range>) {
    using mesh = typename unite_lists<differing_axes<Index>, Also>::type;
    engine::execution_context const w = context_of<axes_in<Index>, mesh>(operation, index);
    engine::check_indices(execution_space_of<Index>(), w, spec_of<Index, axes_in<Index>, mesh>, elements_of(index),
                          mesh_axes_numbered<mesh>(mesh{}), axis, extent, varying_in<Index>::size + Also::size > 0);
  }
}

/// The moves of the check of indices, as a type (calls/moves.hpp).
template <class Range, class Index, class Also = type_list<>>
using moves_of_range =
    std::conditional_t<std::is_same_v<Range, checked_range>,
                       moves_of_agreement<typename unite_lists<differing_axes<Index>, Also>::type>, nothing_moved>;

}  // namespace detail

}  // namespace ostraka
