// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. One axis of h·d indices as two axes, H major and D minor: shared by os::split and os::merge. The memory is
/// the same if the blocks are. Device k of n holds the indices [⌊k·h·d/n⌋, ⌊(k+1)·h·d/n⌋) of the one axis. These are
/// whole indices of H, its block [⌊k·h/n⌋, ⌊(k+1)·h/n⌋), for all k if n divides h, and else only if d ≤ 1. (With k·h =
/// q·n + r the bounds agree if ⌊r·d/n⌋ is 0. The largest r is n − gcd(h, n), 0 if n divides h and else at least n/2.)

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include <ostraka/blocks/create.hpp>
#include <ostraka/blocks/reshaped.hpp>
#include <ostraka/plan/typed/inside.hpp>
#include <ostraka/types/shardings/changed_sharding.hpp>
#include <ostraka/types/support/error.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::detail {

/// Stands for an extent that is not given, and follows from the others.
inline constexpr std::int64_t follows = -1;

/// The number of blocks into which these mesh axes divide an axis, if it is known at compile time; else
/// `dynamic_extent`.
template <class... Ms>
consteval std::int64_t static_ways(type_list<Ms...>) {
  if constexpr (((Ms::extent == dynamic_extent) || ...))
    return dynamic_extent;
  else
    return (std::int64_t{1} * ... * Ms::extent);
}

/// True if n blocks of major·minor indices hold whole indices of the major axis: those of its own blocks.
[[nodiscard]] constexpr bool blocks_are_whole(std::int64_t major, std::int64_t minor, std::int64_t n) {
  return minor <= 1 || major % n == 0;
}

// The same with extents that are known at compile time; true if they are not known.
constexpr bool may_be_whole(std::int64_t major, std::int64_t minor, std::int64_t ways) {
  return ways == dynamic_extent || major == dynamic_extent || minor == dynamic_extent ||
         blocks_are_whole(major, minor, ways);
}

constexpr bool may_multiply(std::int64_t product, std::int64_t major, std::int64_t minor) {
  if (product == dynamic_extent) return true;
  if (major != dynamic_extent && minor != dynamic_extent) return product == major * minor;
  std::int64_t const one = major != dynamic_extent ? major : minor;
  return one == dynamic_extent || (one == 0 ? product == 0 : product % one == 0);
}

/// `reason::ok` if two axes can be one, as far as is known at compile time. Static extents do not describe a block.
template <class Product, class Major, class Minor, class MeshAxes, class Operation>
consteval auto check_product_axes() {
  constexpr std::int64_t product = Product::extent, h = Major::extent, d = Minor::extent;
  constexpr std::int64_t major = h != dynamic_extent || product == dynamic_extent || d <= 0 ? h : product / d;
  constexpr std::int64_t minor = d != dynamic_extent || product == dynamic_extent || h <= 0 ? d : product / h;
  constexpr std::int64_t ways = static_ways(MeshAxes{});
  if constexpr (!may_multiply(product, h, d))
    return found<reason::extents_do_not_multiply<Product, Major, Minor, Operation>>{};
  else if constexpr (!may_be_whole(major, minor, ways))
    return found<reason::major_axis_is_divided_unevenly<Major, Minor, Operation, major, ways>>{};
  else
    return found<reason::ok>{};
}

// Functions that depend on no type are templates so that ostraka::compiled can hold them.

/// The names of the one axis and of the two.
struct product_names {
  std::string_view product, major, minor;
};

// `h`, `d`: the extents of the two axes, or `follows` for one that is not given.
template <class = void>
[[noreturn, gnu::cold]] void throw_no_product(char const* operation, product_names const& of, std::int64_t n,
                                                     std::int64_t h, std::int64_t d) {
  auto const& [product, major, minor] = of;
  auto const given = [](std::string_view name, std::int64_t extent) { return join_text(name, " = ", extent); };
  std::string const two = h == follows   ? given(minor, d)
                          : d == follows ? given(major, h)
                                         : join_text(given(major, h), " and ", given(minor, d));
  throw_error(operation, ": the extent of the merged axis is the product of the extents of its two parts, but it is ",
              given(product, n), ", and ", two,
              h == follows || d == follows ? " does not divide it" : " do not multiply to it",
              "; give extents whose product it is");
}

/// Throws unless n blocks hold whole indices of the major axis.
template <class = void>
[[gnu::cold, gnu::noinline]] void require_whole_blocks(char const* operation, product_names const& of, std::int64_t h,
                                                       std::int64_t d, std::int64_t n) {
  if (blocks_are_whole(h, d, n)) return;
  throw_error(operation, ": blocks of ", of.product, " hold whole indices of ", of.major, ", but ", n,
              " devices divide ", of.major, " = ", h, ", of ", d, " indices of ", of.minor,
              " each, unevenly; choose mesh sizes that divide it, or gather the axis first with os::all_gather");
}

/// The extents of the two axes of an axis of n indices. `major`, `minor`: those that are given, or `follows`.
struct two_extents {
  std::int64_t major, minor;
};
[[gnu::cold, gnu::noinline]] constexpr two_extents split_extents(char const* operation, product_names const& of,
                                                                 std::int64_t n, std::int64_t major,
                                                                 std::int64_t minor) {
  std::int64_t h = major, d = minor;
  if (h == follows && d > 0) h = n / d;
  if (d == follows && h > 0) d = n / h;
  if (h < 0 || d < 0 || h * d != n) throw_no_product(operation, of, n, major, minor);
  return {h, d};
}

[[noreturn, gnu::cold]] inline void throw_unknown_product(char const* operation, std::string_view axis) {
  throw_error(operation, ": extents are the same on all devices, but that of ", axis,
              " is each device's own; hand the axis to os::shard_map divided evenly");
}

/// The number of devices along these mesh axes, numbers of `names`.
template <class = void>
[[gnu::cold, gnu::noinline]] std::int64_t ways_along(engine::device_mesh const& mesh, std::string_view const* names,
                                                     planner::mesh_order over) {
  std::int64_t n = 1;
  for (int k = 0; k < over.size(); ++k) n *= mesh.size(mesh.find(names[over[k]]));
  return n;
}

/// The number of blocks into which the mesh axes that divide `I` divide it.
template <class I, class A>
std::int64_t ways_of(A const& a) {
  using mesh_axes = mesh_axes_in<A>;
  return ways_along(*a.mesh_handle(), names_of<mesh_axes>.data(),
                    spec_of<A, axes_in<A>, mesh_axes>.over[position_in<I, axes_in<A>>]);
}

/// The extent of an axis that `given` has, else that of its type, else `follows`. The type of a major axis does not
/// give a block's extent, because the axis may have been divided.
template <class I, bool TypeSays, class... Given>
constexpr std::int64_t given_extent([[maybe_unused]] char const* operation, Given const&... given) {
  extent_origin origin;
  (find_origin<I>(origin, given), ...);
  if (!origin.is_alike()) throw_unknown_product(operation, I::name);
  auto const all = collect_sizes(given...);
  std::int64_t n = TypeSays ? I::extent : follows;
  if constexpr (position_in<I, typename decltype(all)::names> >= 0) {
    n = all.template of<I>();
    if (n < 0 || (TypeSays && I::extent != dynamic_extent && I::extent != n))
      checked_extent<!TypeSays, I>(all, operation);
  }
  return n;
}

/// `reason::ok` if these are extents of axes in `Axes`, and one of those that have to be known is among them.
template <class Axes, class Needed, class... Given>
consteval auto check_some_given() {
  using each = first_fault<typename decltype(check_given<Axes, Given>())::type...>;
  if constexpr (!std::is_same_v<each, reason::ok>) {
    return found<each>{};
  } else {
    using names = concatenation_of<typename given_extents<Given>::written...,
                                   union_of<typename given_extents<Given>::collected...>>;
    if constexpr (!std::is_void_v<first_repeated<names>>)
      return found<reason::extent_given_twice<first_repeated<names>>>{};
    else if constexpr (Needed::size > 0 && difference_of<Needed, names>::size == Needed::size)
      return found<reason::missing_extent<typename type_at<Needed, 0>::type>>{};
    else
      return found<reason::ok>{};
  }
}

/// The memory of `a` with other extents. `s` is the sharding of the result over mesh axes of these names. One function
/// for all shardings of these ranks.
template <class T, int From, int To, class Space>
[[gnu::cold, gnu::noinline]] unnamed_tensor<T, To, Space> reshape_unnamed(
    unnamed_tensor<T, From, Space> const& a, std::array<std::int64_t, static_cast<std::size_t>(To)> const& extents,
    planner::spec const& s, std::string_view const* mesh_axes, int count) {
  using result_type = unnamed_tensor<T, To, Space>;
  auto const w = context_of_tensor("tensor", *a.mesh_handle(), mesh_axes, count, extents.data(), To);
  std::int64_t local[max_rank + 1]{};
  for (int i = 0; i < To; ++i) local[i] = planner::range_of(s, i, w.here, w.sizes).size();
  result_type result(a.mesh_handle(), extents, reshaped_view<typename result_type::view_type>(a.local(), local));
  result.share_label(a);
  return result;
}

// A tensor or block in the same memory under another sharding.
template <class Sharding, class A>
auto reshaped(A const& a, std::array<std::int64_t, axes_in<Sharding>::size> const& extents,
              [[maybe_unused]] extent_origins<axes_in<Sharding>::size> const& origins) {
  using result_type = basic_tensor<typename A::element_type, Sharding, typename A::space>;
  using mesh_axes = typename result_type::mesh_axes;
  result_type result(reshape_unnamed<typename A::element_type, A::rank, result_type::rank, typename A::space>(
      a, extents, spec_of<Sharding, typename result_type::axes, mesh_axes>, names_of<mesh_axes>.data(),
      mesh_axes::size));
  if constexpr (varying_in<result_type>::size > 0) result.set_origins(origins);
  return result;
}

}  // namespace ostraka::detail
