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

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <ostraka/calls/along.hpp>
#include <ostraka/calls/context.hpp>
#include <ostraka/creation/creation_options.hpp>
#include <ostraka/engine/agreement/check_indices.hpp>
#include <ostraka/moves/reshard.hpp>
#include <ostraka/tensors/after_error.hpp>

namespace ostraka {

namespace detail {

/// Are indices looked at (checked_range), or promised?
struct checked_range {};
struct promised_range {};
template <>
inline constexpr bool is_option<promised_range> = true;

}  // namespace detail

/// Behind the operands: all indices are in range, so that nobody looks and nothing is sent for it.
inline constexpr detail::promised_range in_range{};

namespace detail {

template <class R>
concept IndexRange = is_one_of<R, checked_range, promised_range>;

/// What stands behind index operations that make an axis: os::in_range, and the extent of the axis.
template <class... Given>
using range_among = std::conditional_t<(std::is_same_v<Given, promised_range> || ...), promised_range, checked_range>;
template <bool IsBlock, class I, class... Given>
using extent_beside_range = typename decltype(check_extents_given<IsBlock>(
    type_list<I>{}, type_list<given_beside<std::is_same_v<Given, promised_range>, Given>...>{}))::type;

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
/// that name. `Also`: mesh axes along which the extent may differ, that of a block.
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

/// Bytes that this moves, all devices of the mesh together.
template <class Range, class Also = type_list<>, class Index>
[[nodiscard]] std::int64_t bytes_of_check(Index const& index) {
  using mesh = typename unite_lists<differing_axes<Index>, Also>::type;
  if constexpr (std::is_same_v<Range, promised_range> || mesh::size == 0) {
    return 0;
  } else {
    engine::execution_context const w = context_of<axes_in<Index>, mesh>("bytes", index);
    std::int64_t const group = w.sizes.devices();
    return 16 * (group - 1) * (w.mesh->devices() / group);
  }
}

/// Bytes that a reshard moves, all devices of the mesh together. `extents`: of the tensor's axes.
template <class From, class To>
[[nodiscard]] std::int64_t bytes_of_move(engine::device_mesh const& on, std::int64_t const* extents,
                                         std::int64_t element_bytes) {
  using types = reshard_types<From, To>;
  engine::execution_context const w =
      engine::make_context(on, names_of<typename types::mesh>.data(), types::mesh::size, "bytes");
  planner::extents e = w.sizes;
  for (int i = 0; i < types::labels::size; ++i) e.label[e.labels++] = extents[i];
  return types::plan.elements_moved(e) * element_bytes * (on.devices() / e.devices());
}

/// Per device, rounded up.
[[nodiscard]] inline std::int64_t per_device(std::int64_t bytes, engine::device_mesh const& on) {
  return (bytes + on.devices() - 1) / on.devices();
}

/// The extents of these axes, each of the first operand that has it; one more than there are.
template <class... As, class... Operands>
auto extents_among(type_list<As...>, Operands const&... operands) {
  std::array<std::int64_t, sizeof...(As) + 1> found{};
  std::size_t i = 0;
  auto const look = [&]<class A>(std::type_identity<A>) {
    bool known = false;
    auto const in = [&](auto const& t) {
      constexpr int at = position_in<A, axes_in<std::remove_cvref_t<decltype(t)>>>;
      if constexpr (at >= 0)
        if (!known) {
          known = true;
          found[i] = t.extents()[static_cast<std::size_t>(at)];
        }
    };
    (in(operands), ...);
    ++i;
  };
  (look(std::type_identity<As>{}), ...);
  return found;
}

}  // namespace detail

}  // namespace ostraka
