// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::split<HD, H, D>(A, H = 40)`: an axis of h·d indices becomes two, H major and D minor, in the same
/// memory. Blocks of HD have to be whole indices of H (operations/shapes/product_axis.hpp); any other split is refused.
///
///     [B, HD]      → [B, H, D]
///     [B, HD_X]    → [B, H_X, D]         if X divides h evenly
///     [HD_X] {U_Y} → [H_X, D] {U_Y}

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ostraka/calls/context.hpp>
#include <ostraka/calls/operate.hpp>
#include <ostraka/operations/shapes/product_axis.hpp>

namespace ostraka {

namespace operation {

template <class HD, class H, class D>
struct split : detail::moves_nothing {
  static constexpr char const* name = "split";
  using result_is_a_view = void;
  std::int64_t major = detail::follows;  ///< the extent of H
  std::int64_t minor = detail::follows;  ///< the extent of D; one of them is known

  template <class A>
  using result = detail::with_entry<sharding_in<A>, HD,
                                    typename detail::divided_over<H, detail::splits_of<HD, sharding_in<A>>>::type, D>;

  template <class A>
  static consteval auto check() {
    constexpr bool is_block = varying_in<A>::size > 0;
    using own =
        detail::first_fault<typename sharding_traits<sharding_in<A>>::verdict, detail::blocks_verdict<sharding<>, A>>;
    if constexpr (!std::is_same_v<own, reason::ok>)
      return detail::found<own>{};
    else if constexpr (position_in<HD, axes_in<A>> < 0)
      return detail::found<reason::axis_missing<HD, sharding_in<A>>>{};
    else if constexpr (!is_valid_sharding<result<A>>)
      return detail::found<typename sharding_traits<result<A>>::verdict>{};
    else if constexpr (is_block)
      return detail::found<reason::ok>{};
    else
      return detail::check_product_axes<HD, H, D, detail::splits_of<HD, sharding_in<A>>, split>();
  }
  template <class A>
  using verdict = typename decltype(check<A>())::type;

  /// The extents of the two axes in the result.
  template <class A>
  [[nodiscard]] constexpr sizes<H, D> made(A const& a) const {
    std::int64_t const n = a.extents()[static_cast<std::size_t>(position_in<HD, axes_in<A>>)];
    auto const [h, d] = detail::split_extents(name, {HD::name, H::name, D::name}, n, major, minor);
    return {named_extent<H>(H{}, h), named_extent<D>(D{}, d)};
  }

  template <class How, class A>
  auto run(How const&, A const& a) const {
    using shape = result<A>;
    constexpr auto at = static_cast<std::size_t>(position_in<HD, axes_in<A>>);
    detail::common_mesh(name, a);
    std::int64_t const n = a.extents()[at];
    detail::extent_origin const origin = detail::origin_in<HD>(a);
    if (!origin.is_alike() && minor != 1) detail::throw_unknown_product(name, HD::name);
    auto const [h, d] = detail::split_extents(name, {HD::name, H::name, D::name}, n, major, minor);
    detail::require_whole_blocks(name, {HD::name, H::name, D::name}, h, d, detail::ways_of<HD>(a));
    std::array<std::int64_t, axes_in<shape>::size> extents{};
    detail::extent_origins<axes_in<shape>::size> origins{};
    for (std::size_t i = 0; i < extents.size(); ++i) {
      extents[i] = i == at ? h : i == at + 1 ? d : a.extents()[i < at ? i : i - 1];
      if constexpr (varying_in<A>::size > 0)
        if (i != at + 1) origins[i] = a.origins()[i <= at ? i : i - 1];
    }
    return detail::reshaped<shape>(a, extents, origins);
  }
};

}  // namespace operation

/// The axis HD as two, H major and D minor, in the same memory: free. At least one of their extents is given or static.
/// Mesh axes that divide HD divide H, and have to divide its extent evenly (unless that of D is 1).
/// @throws ostraka::error, on all devices alike, if the extents do not multiply to that of HD, or blocks of HD would
/// end within an index of H
template <auto HD, auto H, auto D, TensorOrVariable A, class... Given>
[[nodiscard]] constexpr auto split(A const& a, Given const&... given) {
  using major = detail::type_of<H>;
  using minor = detail::type_of<D>;
  using split = operation::split<detail::type_of<HD>, major, minor>;
  constexpr bool is_block = varying_in<A>::size > 0;
  constexpr bool is_known = minor::extent != dynamic_extent || (!is_block && major::extent != dynamic_extent);
  using needed = std::conditional_t<is_known, type_list<>, type_list<major, minor>>;
  using some_given = typename decltype(detail::check_some_given<type_list<major, minor>, needed, Given...>())::type;
  if constexpr (reason::ok_or_raise<some_given>())
    return detail::operate(split{{},
                                 detail::given_extent<major, !is_block>(split::name, given...),
                                 detail::given_extent<minor, true>(split::name, given...)},
                           a);
  else
    return typename detail::refused_of<A, sharding<>>::type();
}

}  // namespace ostraka
