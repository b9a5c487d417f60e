// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The points of a padded block for which os::stencil and os::patches compute a value: all of its own, or,
/// with os::every, every n-th.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include <ostraka/calls/context.hpp>
#include <ostraka/engine/blocks/stencil_block.hpp>
#include <ostraka/local_view/halos/check_reach.hpp>
#include <ostraka/local_view/halos/ghosted_array.hpp>
#include <ostraka/types/support/error.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka {

/// Option of os::stencil and os::patches: with `os::every(I = 2)` the result has every second index of I from 0 on,
/// counted over all blocks, as in a strided convolution.
template <class... As>
struct every_index {
  std::int64_t steps[sizeof...(As)];
};
template <class... As>
[[nodiscard]] constexpr every_index<As...> every(named_extent<As> const&... steps) {
  return {{steps.value...}};
}

namespace detail {

template <class T>
inline constexpr bool is_every = false;
template <class... As>
inline constexpr bool is_every<every_index<As...>> = true;

struct no_every {};

// The origins of the extents of this device's block without its halo.
template <class A>
extent_origins<A::rank> own_origins(A const& a) {
  extent_origins<A::rank> origins{};
  if constexpr (varying_in<A>::size > 0) origins = a.origins();
  for (std::size_t d = 0; d < origins.size(); ++d) origins[d] = origins[d].padded_by(-margins_in<A>[d].both());
  return origins;
}

// The origins without `is_undivided`: without a halo, a device does not know whether others have indices of the axis.
template <std::size_t Rank>
std::array<extent_origin, Rank> without_marks(std::array<extent_origin, Rank> origins) {
  for (extent_origin& o : origins) o.is_undivided = false;
  return origins;
}

template <class T, class A>
engine::aligned<T> own_block(A const& a) {
  engine::aligned<T> b;
  b.data = a.local().data();
  std::int64_t step = 1;
  for (int d = A::rank - 1; d >= 0; --d) {
    auto const i = static_cast<std::size_t>(d);
    if constexpr (is_ghosted<A>) step = static_cast<std::int64_t>(a.local().stride(i));
    b.stride[d] = step;
    b.data += margins_in<A>[i].before * step;
    step *= static_cast<std::int64_t>(a.local().extent(i));
  }
  return b;
}

template <class A>
auto source_block(A const& a) {
  using value = typename A::value_type;
  engine::stencil_operand_block<value const, padded_axes<axes_in<A>>> b{own_block<value const>(a), {}};
  int k = 0;
  for (int d = 0; d < A::rank; ++d)
    if (margins_in<A>[static_cast<std::size_t>(d)].both() > 0) b.neighbour[k++] = b.block.stride[d];
  return b;
}

[[noreturn, gnu::cold]] inline void throw_stencil_extents(std::string_view operation, std::string_view axis,
                                                          std::int64_t one, std::int64_t other) {
  throw_error(operation, ": all blocks have the same extents, halos aside, but ", axis, " is ", one, " in one and ",
              other, " in another; pad blocks of the same extents");
}

[[noreturn, gnu::cold]] inline void throw_begins_differ(std::string_view operation, std::string_view axis) {
  throw_error(operation, ": the blocks of all arrays begin at the same indices, but those along ", axis,
              " begin elsewhere in one array than in another (os::at); adopt both with the same os::at");
}

// Throws, on all devices alike, if an array's blocks do not begin where the block distribution has them, but another
// operand's do.
template <class Array, std::size_t Rank>
void require_own_begins(std::string_view operation, Array const& array, extent_origins<Array::rank> const& of_other,
                        std::string_view const (&axis)[Rank]) {
  for (std::size_t d = 0; d < of_other.size(); ++d)
    if (array.begins()[d] != nullptr && of_other[d].whole != extent_origin::of_its_own)
      throw_begins_differ(operation, axis[d]);
}

template <class First, class Other, class... Ls>
void require_same_block(char const* operation, First const& first, Other const& other, type_list<Ls...>) {
  if constexpr (is_ghosted<First> && is_ghosted<Other>) {
    std::string_view const axis[] = {unpadded_axis<Ls>::type::name..., {}};
    for (std::size_t d = 0; d < first.begins().size(); ++d)
      if (first.begins()[d] != other.begins()[d]) throw_begins_differ(operation, axis[d]);
  }
  if constexpr (std::is_same_v<First, Other> && varying_in<First>::size > 0)
    if (first.extents() == other.extents() && first.origins() == other.origins()) return;
  auto const one = own_origins(first), two = own_origins(other);
  std::string_view const names[] = {unpadded_axis<Ls>::type::name..., {}};
  if constexpr (is_ghosted<First> && !is_ghosted<Other>) require_own_begins(operation, first, two, names);
  if constexpr (!is_ghosted<First> && is_ghosted<Other>) require_own_begins(operation, other, one, names);
  for (std::size_t d = 0; d < one.size(); ++d) {
    joined_origin(operation, names[d], one[d], two[d]);
    auto const n = first.extents()[d] - margins_in<First>[d].both(),
               m = other.extents()[d] - margins_in<Other>[d].both();
    if (n != m) throw_stencil_extents(operation, names[d], n, m);
  }
}

template <class A>
engine::stencil_points points_of(A const& a) {
  engine::stencil_points p;
  p.rank = A::rank;
  for (int d = 0; d < A::rank; ++d) {
    auto const i = static_cast<std::size_t>(d);
    p.before[d] = margins_in<A>[i].before;
    p.behind[d] = margins_in<A>[i].behind;
    p.extent[d] = static_cast<std::int64_t>(a.local().extent(i)) - margins_in<A>[i].both();
    p.first[d] = 0;
    p.every[d] = 1;
  }
  return p;
}

[[noreturn, gnu::cold]] inline void throw_stride(std::string_view operation, std::string_view axis,
                                                 std::string const& why) {
  throw_error(operation, ": os::every counts the indices of ", axis, " over all blocks, ", why);
}

// Selects every n-th index of an axis: the indices in this block, and the origin of the result's extent.
inline void take_every(char const* operation, std::string_view axis, engine::device_mesh const& mesh, int d,
                       std::int64_t step, engine::stencil_points& p, extent_origin& origin) {
  if (step < 1)
    throw_stride(operation, axis, join_text("by a step of at least 1, not ", step, "; give a positive one"));
  p.every[d] = step;
  if (step == 1) return;
  if (origin.is_alike()) {
    if (p.extent[d] % step != 0 && !(origin.is_undivided && p.before[d] + p.behind[d] > 0))
      throw_stride(
          operation, axis,
          join_text("so blocks of ", p.extent[d], " begin with other ones; choose blocks that ", step, " divides"));
    return;
  }
  if (origin.whole == extent_origin::of_its_own || origin.shifted != 0)
    throw_stride(operation, axis,
                 "and how many there are before this one is not known; leave the body and enter it again");
  std::int64_t number = 0, ways = 1;
  for (int k = 0; k < origin.over.size(); ++k) {
    number = number * mesh.size(origin.over[k]) + mesh.coordinate(origin.over[k]);
    ways *= mesh.size(origin.over[k]);
  }
  std::int64_t const whole = origin.whole, all = (whole + step - 1) / step;
  auto const before = [&](std::int64_t n) { return (n + step - 1) / step; };
  bool is_distribution = true;
  for (std::int64_t k = 0; k < ways; ++k) {
    planner::range const b = planner::block(whole, k, ways);
    is_distribution = is_distribution && before(b.end) - before(b.begin) == planner::block(all, k, ways).size();
  }
  origin = is_distribution ? extent_origin{all, origin.over} : extent_origin{extent_origin::of_its_own};
  std::int64_t const begin = mesh.absent() ? 0 : planner::block(whole, number, ways).begin;
  p.first[d] = (step - begin % step) % step;
}

template <class A, class... As>
void take_steps(char const* operation, A const& a, every_index<As...> const& e, engine::stencil_points& p,
                extent_origins<A::rank>& origins) {
  using own = axes_in<sharding_without_halos<sharding_in<A>>>;
  auto const take = [&]<class One>(std::type_identity<One>, std::int64_t step) {
    constexpr int d = position_in<One, own>;
    if constexpr (d < 0)
      reason::raise<reason::axis_missing<One, sharding_in<A>>>();
    else
      take_every(operation, One::name, *a.mesh_handle(), d, step, p, origins[static_cast<std::size_t>(d)]);
  };
  int k = 0;
  (take(std::type_identity<As>{}, e.steps[k++]), ...);
}

}  // namespace detail

}  // namespace ostraka
