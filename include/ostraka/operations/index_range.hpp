// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. What operations by an index tensor ask of it: whole numbers, and that each is one of the axis that it
/// points into. Indices are looked at before anything moves, and one that is out of range is named on all ranks:
///
///     index               sends
///     [I] replicated      nothing
///     [I_X]               8 bytes agree over X
///     any, os::in_range   nothing: the program promises it; an index that breaks the promise reads zeros and adds
///                         nothing

#include <cstdint>
#include <type_traits>

#include <ostraka/detail/after_error.hpp>
#include <ostraka/detail/operation.hpp>
#include <ostraka/engine/blocks/check_indices.hpp>
#include <ostraka/operations/along.hpp>

namespace ostraka {

namespace detail {

/// Are indices looked at (checked_range), or promised?
struct checked_range {};
struct promised_range {};

}  // namespace detail

/// Behind the operands: all indices are in range, so that nobody looks and nothing is sent for it.
inline constexpr detail::promised_range in_range{};

namespace detail {

template <class Operation, class Index>
consteval auto check_index_elements() {
  using element = typename Index::value_type;
  if constexpr (!std::is_integral_v<element> || std::is_same_v<element, bool>)
    return found<reason::index_is_no_integer<element, Operation>>{};
  else
    return found<reason::ok>{};
}

/// `reason::ok`, or why a tensor holds no indices.
template <class Operation, class Index>
using index_verdict = first_fault<typename sharding_traits<sharding_in<Index>>::verdict,
                                  typename decltype(check_index_elements<Operation, Index>())::type,
                                  whole_values_verdict<Operation, Index>>;

/// The mesh axes along which blocks of it differ.
template <class Index>
using differing_axes = union_of<mesh_axes_in<Index>, varying_in<Index>>;

/// Throws, on all devices alike and before anything moves, unless every index is one of 0 … extent−1 along the axis of
/// that name.
template <class Range, class Index>
void check_range(char const* operation, [[maybe_unused]] Index const& index, [[maybe_unused]] std::string_view axis,
                 [[maybe_unused]] std::int64_t extent) {
  if constexpr (std::is_same_v<Range, checked_range>) {
    using mesh = differing_axes<Index>;
    engine::execution_context const w = context_of<axes_in<Index>, mesh>(operation, index);
    engine::check_indices(execution_space_of<Index>(), w, spec_of<Index, axes_in<Index>, mesh>, elements_of(index),
                          mesh_axes_numbered<mesh>(mesh{}), axis, extent, varying_in<Index>::size > 0);
  }
}

/// Bytes that this moves, per device.
template <class Range, class Index>
[[nodiscard]] std::int64_t bytes_of_check(Index const& index) {
  using mesh = differing_axes<Index>;
  if constexpr (std::is_same_v<Range, promised_range> || mesh::size == 0) {
    return 0;
  } else {
    engine::execution_context const w = context_of<axes_in<Index>, mesh>("bytes", index);
    std::int64_t const devices = w.sizes.ways(mesh_axes_numbered<mesh>(mesh{}));
    return (16 * (devices - 1) + devices - 1) / devices;
  }
}

}  // namespace detail

}  // namespace ostraka
