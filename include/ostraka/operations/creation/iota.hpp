// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::iota<T, I/X>(mesh, I = n)` is 0, 1, … n−1; `os::one_hot<T, V/X>(index, V = n)` is 1 where the last
/// axis is at the index. Each device makes its own part.
///
///     one_hot<T, V>      [B_X]    → [B_X, V]        nothing moved
///     one_hot<T, V/Y>    [B_X]    → [B_X, V_Y]      nothing moved

#include <cstdint>
#include <type_traits>

#include <ostraka/creation/creation_options.hpp>
#include <ostraka/creation/generate.hpp>
#include <ostraka/elements/map.hpp>
#include <ostraka/operations/indices/index_range.hpp>

namespace ostraka {

namespace detail {

template <class T>
struct equal_steps {
  using number = std::conditional_t<std::is_integral_v<T>, std::int64_t, double>;
  number start, step;
  KOKKOS_INLINE_FUNCTION T operator()(std::int64_t i) const { return T(start + static_cast<number>(i) * step); }
};

template <class TensorType, class Operation>
consteval auto check_one_axis() {
  if constexpr (TensorType::rank != 1)
    return found<reason::iota_has_one_axis<typename TensorType::sharding_type>>{};
  else
    return found<values_verdict<TensorType, Operation>>{};
}

template <class T>
struct is_at_index {
  template <class Index>
  KOKKOS_INLINE_FUNCTION T operator()(Index const& index, std::int64_t const& i) const {
    return static_cast<std::int64_t>(index) == i ? T(1) : T(0);
  }
};

template <class Operation, class T, class Dim, class Index>
consteval auto check_one_hot() {
  using own = first_fault<index_verdict<Operation, Index>>;
  if constexpr (!std::is_same_v<own, reason::ok>) {
    return found<own>{};
  } else if constexpr (std::is_void_v<typename axis_argument<Dim>::axis>) {
    return found<reason::not_an_axis<Dim, Operation>>{};
  } else {
    using out = with_entries_last<sharding_in<Index>, Dim>;
    return found<
        first_fault<typename sharding_traits<out>::verdict, blocks_verdict<out, Index>, element_verdict<T, out>>>{};
  }
}

}  // namespace detail

namespace operation {

struct iota;

/// The operation of os::one_hot. `Dim`: the new axis, with the mesh axes that divide it.
template <class T, class Dim, class Range = detail::checked_range>
struct one_hot {
  static constexpr char const* name = "one_hot";

  std::int64_t extent = 0;

  template <class Index>
  using verdict = typename decltype(detail::check_one_hot<one_hot, T, Dim, Index>())::type;

  template <class Index>
  using moves = detail::moves_of_range<Range, Index>;

  template <class How, class Index>
  auto run(How const&, Index const& index) const {
    using axis = typename detail::axis_argument<Dim>::axis;
    using numbers_type = basic_tensor<std::int64_t, detail::canonical_sharding<Dim>, typename Index::space>;
    detail::check_range<Range>(name, index, axis::name, extent);
    auto const numbers = detail::allocate<numbers_type>(index.mesh_handle(), {extent});
    detail::generate_elements(name, numbers, detail::equal_steps<std::int64_t>{0, 1});
    return ostraka::map(detail::is_at_index<T>{}, index, numbers);
  }
};

}  // namespace operation

/// start, start + step, …: `os::iota<float, I/X>(mesh, I = 10, os::from(1), os::by(0.5))`; by default from 0 in steps
/// of 1.
template <class T, auto... Dims, class Mesh, class... Given>
[[nodiscard]] auto iota(Mesh const& m, Given const&... given) {
  using tensor_type = typename detail::named_tensor<T, Dims...>::type;
  using element = typename tensor_type::value_type;
  using verdict = detail::first_fault<
      typename decltype(detail::check_one_axis<tensor_type, operation::iota>())::type,
      typename detail::options_given<operation::iota, type_list<from<int>, by<int>>, Given...>::verdict>;
  auto t = detail::make_uninitialised<tensor_type, verdict>("iota", m,
                                                            detail::extents_beside<detail::is_option<Given>>(given)...);
  if constexpr (std::is_same_v<decltype(t), tensor_type>) {
    using number = typename detail::equal_steps<detail::real_of<element>>::number;
    auto const start = detail::numbers_among(from<number>(0), given...);
    auto const step = detail::numbers_among(by<number>(1), given...);
    detail::generate_elements("iota", t, detail::equal_steps<element>{start.value, step.value});
  }
  return t;
}

/// 1 where the new axis is at the index, else 0: `os::one_hot<float, V/X>(tokens, V = 50000)`. The result has the
/// index's axes and then V. os::in_range promises that the numbers are in range, and saves the check; numbers out of
/// range then have no 1.
/// @throws ostraka::error, on all devices alike, if a number is not one of 0 … n−1
template <class T, auto Dim, Tensor Index, class... Given>
[[nodiscard]] auto one_hot(Index const& index, Given const&... given) {
  using argument = detail::type_of<Dim>;
  using element = typename detail::element<T>::type;
  using axis = typename detail::axis_argument<argument>::axis;
  operation::one_hot<element, argument, detail::range_among<Given...>> how;
  if constexpr (std::is_void_v<axis>) {
    return detail::operate(how, index);  // raises the reason
  } else if constexpr (!reason::ok_or_raise<detail::extent_beside_range<false, axis, Given...>>()) {
    return detail::after_error_of<element, detail::canonical_sharding<argument>, typename Index::space>();
  } else {
    auto const extents = collect_sizes(detail::extents_beside<detail::is_option<Given>>(given)...);
    how.extent = detail::checked_extent<false, axis>(extents, how.name);
    return detail::operate(how, index);
  }
}

}  // namespace ostraka
