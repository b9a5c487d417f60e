// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::merge<H, D, HD>(A)`: two adjacent axes become one of h·d indices in the same memory, the inverse of
/// os::split. D is whole. If D were divided, each device would have a piece of every index of H: this is refused
/// (unless H has the static extent 1).
///
///     [B, H, D]     → [B, HD]
///     [B, H_X, D]   → [B, HD_X]      if X divides h evenly
///     [B, H, D_Y]                    refused

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ostraka/calls/context.hpp>
#include <ostraka/calls/operate.hpp>
#include <ostraka/operations/shapes/product_axis.hpp>

namespace ostraka {

namespace operation {

template <class H, class D, class HD>
struct merge : detail::moves_nothing {
  static constexpr char const* name = "merge";
  using result_is_a_view = void;

  // The mesh axes that divide the result.
  template <class A>
  using splits = concatenation_of<detail::splits_of<H, sharding_in<A>>, detail::splits_of<D, sharding_in<A>>>;
  template <class A>
  using result = detail::without_axis<
      detail::with_entry<sharding_in<A>, H, typename detail::divided_over<HD, splits<A>>::type>, D>;

  template <class A>
  static consteval auto check() {
    using own = detail::first_fault<typename sharding_traits<sharding_in<A>>::verdict,
                                    detail::blocks_verdict<sharding<>, A>>;
    using axes = axes_in<A>;
    if constexpr (!std::is_same_v<own, reason::ok>)
      return detail::found<own>{};
    else if constexpr (position_in<H, axes> < 0)
      return detail::found<reason::axis_missing<H, sharding_in<A>>>{};
    else if constexpr (position_in<D, axes> < 0)
      return detail::found<reason::axis_missing<D, sharding_in<A>>>{};
    else if constexpr (position_in<D, axes> != position_in<H, axes> + 1)
      return detail::found<reason::merged_axes_not_adjacent<H, D, sharding_in<A>>>{};
    else if constexpr (detail::splits_of<D, sharding_in<A>>::size > 0 &&
                       (H::extent != 1 || varying_in<A>::size > 0 || detail::splits_of<H, sharding_in<A>>::size > 0))
      return detail::found<reason::minor_axis_is_divided<D, sharding_in<A>>>{};
    else if constexpr (!is_valid_sharding<result<A>>)
      return detail::found<typename sharding_traits<result<A>>::verdict>{};
    else if constexpr (varying_in<A>::size > 0)
      return detail::found<reason::ok>{};
    else
      return detail::check_product_axes<HD, H, D, detail::splits_of<H, sharding_in<A>>, merge>();
  }
  template <class A>
  using verdict = typename decltype(check<A>())::type;

  /// The extent of the axis in the result.
  template <class A>
  [[nodiscard]] constexpr named_extent<HD> made(A const& a) const {
    constexpr auto at = static_cast<std::size_t>(position_in<H, axes_in<A>>);
    return {HD{}, a.extents()[at] * a.extents()[at + 1]};
  }

  template <class How, class A>
  auto run(How const&, A const& a) const {
    using shape = result<A>;
    constexpr auto at = static_cast<std::size_t>(position_in<H, axes_in<A>>);
    detail::common_mesh(name, a);
    std::int64_t const h = a.extents()[at], d = a.extents()[at + 1];
    if (varying_in<A>::size == 0 && HD::extent != dynamic_extent && HD::extent != h * d)
      detail::throw_no_product(name, {HD::name, H::name, D::name}, HD::extent, h, d);
    detail::require_whole_blocks(name, {HD::name, H::name, D::name}, h, d, detail::ways_of<H>(a));
    std::array<std::int64_t, axes_in<shape>::size> extents{};
    detail::extent_origins<axes_in<shape>::size> origins{};
    for (std::size_t i = 0; i < extents.size(); ++i) {
      extents[i] = i == at ? h * d : a.extents()[i < at ? i : i + 1];
      if constexpr (varying_in<A>::size > 0) origins[i] = a.origins()[i <= at ? i : i + 1];
    }
    if constexpr (varying_in<A>::size > 0) origins[at] = origin_of_product(a.origins()[at], a.origins()[at + 1], d);
    return detail::reshaped<shape>(a, extents, origins);
  }

 private:
  // Uneven blocks do not follow the product's block distribution, unless one axis has one index on every device.
  static detail::extent_origin origin_of_product(detail::extent_origin const& of_h, detail::extent_origin const& of_d,
                                                 std::int64_t d) {
    if (of_d.is_alike() && (of_h.is_alike() || d == 1)) return of_h;
    return {detail::extent_origin::of_its_own};
  }
};

}  // namespace operation

/// Two axes, D directly after H, as one, in the same memory: free. Mesh axes that divide H divide the result, and have
/// to divide the extent of H evenly (unless that of D is 1). @throws ostraka::error, on all devices alike, if they do
/// not, or if HD has a static extent that is not the product
template <auto H, auto D, auto HD, TensorOrVariable A>
[[nodiscard]] constexpr auto merge(A const& a) {
  return detail::operate(operation::merge<detail::type_of<H>, detail::type_of<D>, detail::type_of<HD>>{}, a);
}

}  // namespace ostraka
