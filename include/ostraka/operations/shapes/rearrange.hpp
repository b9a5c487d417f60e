// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The base of windows, pads, flips, rolls and concatenations. Each says which pieces make up the axis of its
/// result (plan/blocks/pieces.hpp); this file checks, prices and runs the rearrangement. The axis is named with the
/// mesh axes that divide it; the result has the sharding of the operands.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include <ostraka/calls/along.hpp>
#include <ostraka/calls/context.hpp>
#include <ostraka/calls/moves_of_parts.hpp>
#include <ostraka/engine/block_collectives/rearrange_blocks.hpp>
#include <ostraka/local_view/collectives/group.hpp>
#include <ostraka/plan/blocks/pieces.hpp>
#include <ostraka/types/support/error.hpp>

namespace ostraka::detail {

template <class Operation, class First, class Other>
consteval auto check_alike() {
  using mesh = union_of<mesh_axes_in<First>, mesh_axes_in<Other>>;
  if constexpr (!std::is_same_v<axes_in<First>, axes_in<Other>> ||
                !(spec_of<First, axes_in<First>, mesh> == spec_of<Other, axes_in<First>, mesh>))
    return found<reason::operands_sharded_differently<sharding_in<First>, sharding_in<Other>, Operation>>{};
  else
    return found<reason::ok>{};
}

// The static extent of an axis does not give a block's extent, because the axis may have been divided.
template <bool ChangesExtent, class Operation, class Dim, class A>
consteval auto check_extent_may_change() {
  using I = typename axis_argument<Dim>::axis;
  if constexpr (!ChangesExtent || varying_in<A>::size > 0)
    return found<reason::ok>{};
  else if constexpr (I::extent != dynamic_extent)
    return found<reason::static_extent_would_change<I, Operation>>{};
  else
    return found<reason::ok>{};
}

template <class Operation, class Dim, bool ChangesExtent, class First, class... Rest>
consteval auto check_rearrangement() {
  using own =
      first_fault<typename sharding_traits<sharding_in<First>>::verdict,
                  typename sharding_traits<sharding_in<Rest>>::verdict..., blocks_verdict<sharding<>, First, Rest...>,
                  axis_argument_verdict<Operation, Dim, First>,
                  typename decltype(check_alike<Operation, First, Rest>())::type..., elements_verdict<First, Rest...>>;
  if constexpr (!std::is_same_v<own, reason::ok>)
    return found<own>{};
  else
    return check_extent_may_change<ChangesExtent, Operation, Dim, First>();
}

/// `reason::ok` if the axis of these operands can be rearranged. Partial tensors are rearranged in the same way as
/// values.
template <class Operation, class Dim, bool ChangesExtent, class... Operands>
using rearrangement_verdict =
    typename decltype(check_rearrangement<Operation, Dim, ChangesExtent, Operands...>())::type;

/// The moves of a rearrangement of A's axis into these pieces.
template <class Dim, class A>
[[nodiscard]] constexpr moves_of_call moves_of_pieces(planner::rearrangement const& r, A const& a) {
  using axes = axes_in<A>;
  using mesh = mesh_axes_in<A>;
  planner::extents const e = extents_by_name<axes, mesh>::of(sizes_of_call(a));
  return {planner::elements_moved(r, spec_of<A, axes, mesh>, dimension_of<Dim, A>, e) * element_bytes_in<A>,
          e.devices()};
}

/// The moves of a rearrangement whose pieces follow from the extent of the axis: `Operation::pieces_of(n)`.
template <class Operation, class Dim, class A>
struct moves_of_rearrangement
    : moves_by_extents<moves_of_rearrangement<Operation, Dim, A>, axes_in<A>, mesh_axes_in<A>> {
  static constexpr std::int64_t bytes_moved(planner::extents const& e) {
    return element_bytes_in<A> * planner::elements_moved(Operation::pieces_of(e.label[dimension_of<Dim, A>]),
                                                         spec_of<A, axes_in<A>, mesh_axes_in<A>>, dimension_of<Dim, A>,
                                                         e);
  }
};

// Throws unless all extents but that of the rearranged axis are equal, and known to be equal.
template <class A, class B>
void require_equal_but(char const* operation, std::size_t along, [[maybe_unused]] A const& a,
                       [[maybe_unused]] B const& b) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(A::rank); ++i) {
    if (i == along) continue;
    if constexpr (varying_in<A>::size > 0 && varying_in<B>::size > 0)  // before extents, which may differ on other
                                                                       // devices
      joined_origin(operation, names_of<axes_in<A>>[i], a.origins()[i], b.origins()[i]);
    if (a.extents()[i] != b.extents()[i])
      throw_error(operation, ": operands agree on the extents of all other axes, but ", names_of<axes_in<A>>[i], " is ",
                  a.extents()[i], " in one and ", b.extents()[i], " in another; make them with the same os::sizes");
  }
}

template <class A>
extent_origins<A::rank> origins_in([[maybe_unused]] A const& a) {
  if constexpr (varying_in<A>::size > 0)
    return a.origins();
  else
    return {};
}

/// The origin of an extent that is the sum of these, or computed from them.
inline extent_origin origin_of_sum(extent_origin const* summands, int count) {
  for (int k = 0; k < count; ++k)
    if (!summands[k].is_alike()) return {extent_origin::of_its_own};
  return {};
}

/// Runs a rearrangement. `origin`: for a block, the origin of the axis' extent in the result.
template <class Dim, class First, class... Rest>
auto rearrange(char const* operation, planner::rearrangement const& r, extent_origin const& origin,
               typename First::value_type const& blank, First const& first, Rest const&... rest) {
  using axes = axes_in<First>;
  using mesh = mesh_axes_in<First>;
  using value = typename First::value_type;
  using result_type = basic_tensor<value, varying_as<sharding_in<First>, Rest...>, typename First::space>;
  static constexpr planner::spec s = spec_of<First, axes, mesh>;
  constexpr auto along = static_cast<std::size_t>(dimension_of<Dim, First>);
  engine::device_mesh const* const meshes[] = {first.mesh_handle().get(), rest.mesh_handle().get()...};
  common_mesh(operation, meshes, static_cast<int>(sizeof...(Rest)) + 1);
  (require_equal_but(operation, along, first, rest), ...);
  engine::execution_context w = context_of_tensor(operation, *first.mesh_handle(), names_of<mesh>.data(), mesh::size,
                                                  first.extents().data(), First::rank);
  w.names.labels = names_of<axes>.data();
  auto extents = first.extents();
  extents[along] = r.result;
  result_type result = allocate<result_type>(first.mesh_handle(), extents);
  if constexpr (varying_in<result_type>::size > 0) {
    auto origins = origins_in(first);
    for (std::size_t i = 0; i < origins.size(); ++i)
      if (i != along)
        ((origins[i] = joined_origin(operation, w.names.labels[i], origins[i], origins_in(rest)[i])), ...);
    origins[along] = origin;
    result.set_origins(origins);
  }
  engine::profiled const region_of_run(
      w, [&] { engine::push_blocks(operation, s, w.names, "moves", moves_of_pieces<Dim>(r, first).bytes()); });
  engine::strided_block<value const*> const from[] = {readable_block(first), readable_block(rest)...};
  engine::rearrange(execution_space_of<result_type>(), w, s, static_cast<int>(along), r, from, writable_block(result),
                    blank);
  return result;
}

/// The source of the extent of the axis in the result: the operand's extent; the sum of the operands' extents and of
/// numbers; or numbers alone, which are the same on all devices.
enum class result_extent { of_operand, added_up, of_numbers };

/// The base of an operation that rearranges an axis, named with the mesh axes that divide it. `Operation` has
/// `pieces(operands…)`, and `blank<T>()`, the value of its blanks, if that is not zero.
template <class Operation, class Along, result_extent Extent>
struct rearranges {
  template <class...>
  using moves = moves_if_whole<Along>;

  template <class First, class... Rest>
  [[nodiscard]] constexpr moves_of_call moved(First const& first, Rest const&... rest) const {
    return moves_of_pieces<Along>(own().pieces(first, rest...), first);
  }
  /// The extent of the axis in the result.
  template <class First, class... Rest>
  [[nodiscard]] constexpr auto made(First const& first, Rest const&... rest) const {
    using I = typename axis_argument<Along>::axis;
    return named_extent<I>(I{}, own().pieces(first, rest...).result);
  }

  template <class How, class First, class... Rest>
  auto run(How const&, First const& first, Rest const&... rest) const {
    common_mesh(Operation::name, first);
    constexpr auto along = static_cast<std::size_t>(dimension_of<Along, First>);
    extent_origin origin{};
    if constexpr (Extent == result_extent::of_operand) {
      origin = origins_in(first)[along];
    } else if constexpr (Extent == result_extent::added_up) {
      extent_origin const summands[] = {origins_in(first)[along], origins_in(rest)[along]...};
      origin = origin_of_sum(summands, static_cast<int>(sizeof...(Rest)) + 1);
    }
    return rearrange<Along>(Operation::name, own().pieces(first, rest...), origin,
                            own().template blank<typename First::value_type>(), first, rest...);
  }

  template <class T>
  [[nodiscard]] T blank() const {
    return T{};
  }

 private:
  [[nodiscard]] constexpr Operation const& own() const { return static_cast<Operation const&>(*this); }
};

}  // namespace ostraka::detail
