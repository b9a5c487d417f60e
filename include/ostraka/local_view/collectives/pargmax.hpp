// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::pargmax<X>(a)`, `os::pargmin<X>(a)`: in the body of os::shard_map, the number of the device along X
/// that has the largest (smallest) element. float[I] {V_X} → int32[I]

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <tuple>

#include <ostraka/blocks/create.hpp>
#include <ostraka/blocks/fill.hpp>
#include <ostraka/elements/map.hpp>
#include <ostraka/local_view/collectives/preduce.hpp>

namespace ostraka {

namespace detail {

// True if b beats a: it is larger for max, smaller for min. A NaN beats all numbers, as in a reduction.
template <reduction How>
struct is_further {
  template <class T>
  KOKKOS_INLINE_FUNCTION static bool test(T const& a, T const& b) {
    if (a != a) return false;
    return b != b || (How == reduction::max ? b > a : b < a);
  }
};

template <reduction How>
struct further_value {
  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(T const& a, T const& b) const {
    return is_further<How>::test(a, b) ? b : a;
  }
};

template <reduction How>
struct further_index {
  template <class T>
  KOKKOS_INLINE_FUNCTION std::int32_t operator()(T const& a, T const& b, std::int32_t i, std::int32_t k) const {
    return is_further<How>::test(a, b) ? k : i;
  }
};

}  // namespace detail

namespace operation {

/// The type of os::pargmax<X> and os::pargmin<X>.
template <reduction How, class... Ms>
struct argument_of_extreme : detail::collective<argument_of_extreme<How, Ms...>> {
  static constexpr char const* name = How == reduction::max ? "pargmax" : "pargmin";
  template <class A>
  using verdict =
      detail::first_fault<typename decltype(detail::check_block_reduction<argument_of_extreme, How, A, Ms...>())::type,
                          detail::values_verdict<A, argument_of_extreme>>;
  template <class A>  // values and indices
  using moves = detail::moves_of_messages<A, type_list<Ms...>, &detail::messages_of_preduce,
                                          detail::element_bytes_in<A> + static_cast<int>(sizeof(std::int32_t))>;

  template <class A>
  auto run(detail::at_once, A const& a) const {
    using index_type = basic_tensor<std::int32_t, sharding_in<A>, typename A::space>;
    detail::named_group const g = detail::group_of<A, Ms...>(name, a);
    auto const own = detail::make_block_like<index_type>(a, a.extents(), a.origins());
    detail::fill_block(name, own, static_cast<std::int32_t>(g.number));
    auto const both = detail::reduce_over<Ms...>(
        [](auto const& left, auto const& right) {
          auto const& [va, ia] = left;
          auto const& [vb, ib] = right;
          return std::tuple{ostraka::map(detail::further_value<How>{}, va, vb),
                            ostraka::map(detail::further_index<How>{}, va, vb, ia, ib)};
        },
        a, own);
    return std::get<1>(both);
  }
};

}  // namespace operation

/// The number of the device along `Ms` that has the largest element, element by element; of equal ones the first.
/// Devices are numbered with the first mesh axis major. Collective over `Ms`.
/// @throws ostraka::error, on all devices alike, if extents differ
template <auto... Ms>
inline constexpr operation::argument_of_extreme<reduction::max, detail::type_of<Ms>...> pargmax{};

/// The number of the device that has the smallest element.
template <auto... Ms>
inline constexpr operation::argument_of_extreme<reduction::min, detail::type_of<Ms>...> pargmin{};

}  // namespace ostraka
