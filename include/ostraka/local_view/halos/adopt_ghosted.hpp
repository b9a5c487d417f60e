// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::from_local<double, os::halo<I, 1>/X, os::halo<J, 1>/Y>(mesh, I = n, J = m, view)`: uses an array with
/// ghost layers in place. The extents are global ones, without halos. The view has the extents of the device's block
/// plus its ghost layers. `os::at(I = begin)` among the extents: the program divides the axes by a rule of its own.

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include <ostraka/arrays/block_position.hpp>
#include <ostraka/arrays/from_local.hpp>
#include <ostraka/calls/context.hpp>
#include <ostraka/local_view/extents_at_doors.hpp>
#include <ostraka/local_view/halos/block_begins.hpp>
#include <ostraka/local_view/halos/check_reach.hpp>
#include <ostraka/local_view/halos/ghosted_array.hpp>
#include <ostraka/local_view/halos/halo_calls.hpp>

namespace ostraka {

namespace detail {

// The tensor that the arrays form together, without ghost layers.
template <class Ghosts>
using owned_tensor = basic_tensor<typename Ghosts::value_type, sharding_without_halos<typename Ghosts::divided_type>,
                                  typename Ghosts::space>;

// Returns a view that keeps the memory alive as the given one does, if possible; else one that does not.
template <class View, class T, class Array>
View view_with_strides(Array& array, T* data, engine::strided const& lies) {
  if constexpr (ViewOfBlock<Array> && std::is_convertible_v<Array, View>) {
    return array;
  } else {
    Kokkos::LayoutStride layout;
    for (int d = 0; d < lies.rank; ++d) {
      layout.dimension[d] = static_cast<std::size_t>(lies.extent[d]);
      layout.stride[d] = static_cast<std::size_t>(lies.stride[d]);
    }
    return View(data, layout);
  }
}

template <class Ghosts, class Given>
consteval auto check_ghosted_block() {
  using array = std::remove_reference_t<Given>;
  using kept = std::conditional_t<ViewOfBlock<array> && std::is_convertible_v<array, typename Ghosts::view_type>,
                                  std::remove_const_t<array>&, Given>;  // a temporary view is allowed
  return found<block_verdict<owned_tensor<Ghosts>, kept>>{};
}

// Stands for an os::at that is not given: the array follows the block distribution.
struct of_distribution {};

// Reads where the device's block begins; an axis that is left out begins at 0.
template <class Ghosts, class... Ls, class... Is>
void begins_at([[maybe_unused]] block_position<Is...> const& at, type_list<Ls...>, std::int64_t* begin) {
  using missing = first_fault<std::conditional_t<is_one_of<Is, Ls...>, reason::ok,
                                                 reason::axis_missing<Is, sharding_in<owned_tensor<Ghosts>>>>...>;
  if constexpr (!reason::ok_or_raise<missing>()) return;
  [[maybe_unused]] int d = 0;
  auto const read = [&]<class L>(std::type_identity<L>) {
    if constexpr (is_one_of<L, Is...>)
      return at.begin.template of<L>();
    else
      return std::int64_t{0};
  };
  ((begin[d++] = read(std::type_identity<Ls>{})), ...);
}

// `keep`: a function that attaches an owner to the view, if it needs one. `at`: where the device's block begins.
template <class Ghosts, class Mesh, class Array, class Keep, class Position, class... Extents>
Ghosts adopt_ghosted(char const* operation, Mesh const& m, Array& array, Keep const& keep,
                     [[maybe_unused]] Position const& at, Extents const&... given) {
  using owned = owned_tensor<Ghosts>;
  using labels = axes_in<owned>;
  using mesh_axes = mesh_axes_in<owned>;
  static constexpr planner::spec s = spec_of<owned, labels, mesh_axes>;
  constexpr auto margins = margins_in<Ghosts>;
  int ghosts[max_rank + 1]{};
  for (int d = 0; d < Ghosts::rank; ++d) ghosts[d] = margins[static_cast<std::size_t>(d)].both();
  engine::execution_context w =
      engine::make_context(*m.handle(), names_of<mesh_axes>.data(), mesh_axes::size, operation);
  w.names.labels = names_of<labels>.data();
  typename Ghosts::begins_type begins{};
  auto const adjust = [&](auto const& whole, std::int64_t* wanted) {
    if (m.absent()) return;
    if constexpr (is_position<Position>) {
      std::int64_t begin[max_rank + 1]{};
      begins_at<Ghosts>(at, labels{}, begin);
      agree_on_begins(w, s, whole.data(), begin, begins.data());
    }
    for (int d = 0; d < Ghosts::rank; ++d) {
      std::int64_t const* const of_axis = begins[static_cast<std::size_t>(d)];
      if (of_axis != nullptr) wanted[d] = own_range(w, s, d, of_axis).size();
      wanted[d] += ghosts[d];
    }
  };
  auto const seen = inspect_array<owned>(
      operation, is_position<Position> ? engine::demand::with_ghosts_at : engine::demand::with_ghosts, adjust, m, array,
      given...);
  typename Ghosts::extents_type extents{}, first{};
  extent_origins<Ghosts::rank> origins{};
  enter_extents_of_block(w, s, mesh_axes_numbered<mesh_axes>(mesh_axes{}), seen.extents.data(), extents.data(),
                         origins.data());
  engine::strided lies = layout_of_block(seen.given, seen.wanted, Ghosts::rank);
  auto* data = data_of(array);
  owned const shape(m.handle(), seen.extents, {});
  for (int d = 0; d < Ghosts::rank; ++d) {
    auto const i = static_cast<std::size_t>(d);
    if (margins[i].widest() > seen.extents[i])
      throw_halo_too_wide(operation, w.names.labels[s.label[d]], margins[i].widest(), seen.extents[i]);
    first[i] = shape.range(d).begin;
    if (begins[i] != nullptr) {
      planner::range const own = own_range(w, s, d, begins[i]);
      first[i] = own.begin;
      extents[i] = own.size();
      origins[i] = {extent_origin::of_its_own};
    }
    extents[i] += ghosts[d];
    origins[i] = origins[i].padded_by(ghosts[d]);
    if (ghosts[d] > 0) origins[i].is_undivided = w.sizes.ways(s.over[d]) == 1;
  }
  using view = typename Ghosts::view_type;
  if (m.absent()) {  // other devices cannot know that it has no elements of its own
    for (int d = 0; d < Ghosts::rank; ++d) lies.extent[d] = ghosts[d];
    lies.rank = Ghosts::rank;
  }
  view block = m.absent() ? view_with_strides<view>(lies, data, lies) : view_with_strides<view>(array, data, lies);
  keep(block);
  return {m.handle(), extents, origins, first, std::move(block), begins};
}

// `Is`: the places of the extents among the arguments.
template <class T, class Divided, class Given, class Mesh, class Position, class Arguments, std::size_t... Is>
auto checked_adopt_ghosted(Mesh const& m, Position const& at, Arguments const& arguments, std::index_sequence<Is...>) {
  using array = std::remove_reference_t<Given>;
  constexpr bool reads_only = std::is_const_v<typename given_array<array>::element>;
  using result = basic_ghosted_array<std::conditional_t<reads_only, T const, T>, Divided>;
  using verdict = first_fault<
      creation_verdict<owned_tensor<result>, Mesh,
                       extent_beside_unchecked<std::remove_cvref_t<std::tuple_element_t<Is, Arguments>>>...>,
      typename decltype(check_ghosted_block<result, Given>())::type>;
  if constexpr (reason::ok_or_raise<verdict>())
    return adopt_ghosted<result>(
        "from_local", m, std::get<std::tuple_size_v<Arguments> - 1>(arguments), [](auto const&) {}, at,
        std::get<Is>(arguments)...);
  else
    return after_error_of<T, typename result::sharding_type, typename result::space>();
}

}  // namespace detail

/// Uses this device's array with its ghost layers in place. The array is a Kokkos::View or mdspan of any layout with a
/// dimension for each axis, os::strided memory, a row-major list, or one of these in another order, os::in_order<J,
/// I>(view). It comes last, after the global extents, which do not count ghost layers. Along an axis named os::halo<I,
/// v, w>/X the array has v more indices before the device's own, and w after them. The elements are those of the array;
/// if they are constant, it is read only. The result keeps the memory of a view alive if its dimensions are in the
/// order of the axes; all other memory must outlive it. On a process outside the mesh the view is empty.
/// `os::at(I = begin)` before the array is the global index of the first element that the device owns, if the program
/// divides axes by a rule of its own; an axis that is left out begins at 0. Collective over the mesh, unless
/// os::unchecked is among the extents and os::at is not.
/// @throws ostraka::error, on all devices alike, if an array does not have the extents of its device's block plus ghost
/// layers, or has strides that are not positive, if a halo is wider than its axis, or if the blocks of os::at do not
/// follow each other
template <class T, auto... Dims, class Mesh, class... ExtentsThenArray>
  requires(detail::names_ghosts<Dims...>)
[[nodiscard]] auto from_local([[maybe_unused]] Mesh const& m,
                              [[maybe_unused]] ExtentsThenArray&&... extents_then_array) {
  using element = typename detail::element<T>::type;
  using last = detail::last_of<ExtentsThenArray...>;
  using ghosts = basic_ghosted_array<element, sharding_of<Dims...>>;
  if constexpr (detail::names_extents<std::remove_cvref_t<last>>) {
    reason::raise<reason::view_comes_last<std::remove_cvref_t<last>>>();
    return detail::after_error_of<element, typename ghosts::sharding_type, typename ghosts::space>();
  } else {
    auto const arguments = std::forward_as_tuple(extents_then_array...);
    constexpr std::size_t extents = sizeof...(ExtentsThenArray) - 1;
    constexpr bool has_position =
        extents > 0 &&
        detail::is_position<
            std::remove_cvref_t<std::tuple_element_t<(extents > 0 ? extents - 1 : 0), decltype(arguments)>>>;
    if constexpr (has_position)
      return detail::checked_adopt_ghosted<element, sharding_of<Dims...>, last>(
          m, std::get<extents - 1>(arguments), arguments, std::make_index_sequence<extents - 1>{});
    else
      return detail::checked_adopt_ghosted<element, sharding_of<Dims...>, last>(m, detail::of_distribution{}, arguments,
                                                                                std::make_index_sequence<extents>{});
  }
}

}  // namespace ostraka
