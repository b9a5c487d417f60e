// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The reasons why a tensor cannot be transformed as a call of os::fft or one of its variants asks.

#include <cstdint>
#include <type_traits>

#include <ostraka/fourier/fourier_layout.hpp>

namespace ostraka::detail {

template <class Operation, fourier_kind Kind, class T>
consteval auto check_fourier_elements() {
  constexpr bool is_real = std::is_same_v<T, float> || std::is_same_v<T, double>;
  constexpr bool is_complex = std::is_same_v<T, Kokkos::complex<float>> || std::is_same_v<T, Kokkos::complex<double>>;
  if constexpr (has_half_spectrum(Kind) ? is_real : has_real_result(Kind) ? is_complex : is_real || is_complex)
    return found<reason::ok>{};
  else
    return found<reason::not_transformed<T, Operation>>{};
}

// `reason::ok` unless A is partial by another reduction than a sum. Partial sums are transformed part by part.
template <class Operation, class A>
consteval auto check_linear() {
  using partials = typename sharding_traits<sharding_in<A>>::partial_entries;
  if constexpr (partials::size == 0) {
    return found<reason::ok>{};
  } else if constexpr (type_at<partials, 0>::type::kind == reduction::sum) {
    return found<reason::ok>{};
  } else {
    using X = typename type_at<typename sharding_traits<sharding_in<A>>::partials, 0>::type;
    return found<reason::partial_in_nonlinear_operation<X, Operation>>{};
  }
}

template <fourier_kind Kind, class I, class K, class Operation>
consteval auto check_static_extent() {
  constexpr std::int64_t whole = has_real_result(Kind) ? K::extent : I::extent;
  constexpr std::int64_t other = has_real_result(Kind) ? I::extent : K::extent;
  if constexpr (whole == dynamic_extent || other == dynamic_extent)
    return found<reason::ok>{};
  else if constexpr (other == (has_half_spectrum(Kind) || has_real_result(Kind) ? whole / 2 + 1 : whole))
    return found<reason::ok>{};
  else
    return found<reason::spectrum_extent_mismatch<I, K, Operation>>{};
}

/// `reason::ok` unless static extents of the axes contradict each other. The last axis is the one of real numbers.
template <fourier_kind Kind, class Operation, class... Is, class... Ks>
consteval auto check_static_extents(type_list<Is...>, type_list<Ks...>) {
  using last = typename type_at<type_list<Is...>, static_cast<int>(sizeof...(Is)) - 1>::type;
  return found<first_fault<typename decltype(check_static_extent < std::is_same_v<Is, last> ? Kind : complex_kind(Kind),
                                             Is, Ks, Operation > ())::type...>>{};
}

template <class Operation, class A, class... Dims, class... Ks>
consteval auto check_new_names(type_list<Dims...>, type_list<Ks...>) {
  return found<first_fault<typename decltype(check_new_name<Operation, Dims, Ks, A>())::type...>>{};
}

// `reason::ok` if A can be moved to the layout of each stage.
template <class Layout, class A, int... stage>
consteval auto check_stages(std::integer_sequence<int, stage...>) {
  return found<first_fault<reshard_verdict<A, varying_as_one<typename Layout::template rows<stage, 0>, A>>...,
                           reshard_verdict<A, varying_as_one<typename Layout::target_before, A>>>>{};
}

template <class Operation, fourier_kind Kind, class Along, class Named, class A>
consteval auto check_fourier_names() {
  using result = fourier_result<Along, Named, A>;
  using Is = typename result::Is;
  using Ks = typename result::Ks;
  constexpr int named = axes_in<Named>::size;
  if constexpr (Is::size == 0 || Ks::size != Is::size || (named != Is::size && named != A::rank)) {
    return found<reason::transform_axes_mismatch<sharding_in<A>, Named, Operation>>{};
  } else {
    using renamed = typename decltype(check_new_names<Operation, A>(typename dims_of_call<Along>::type{}, Ks{}))::type;
    if constexpr (!have_same_types<axes_in<typename result::type>, typename axes_with<axes_in<A>, Is, Ks>::type>)
      return found<reason::transform_axes_mismatch<sharding_in<A>, Named, Operation>>{};
    else if constexpr (!std::is_same_v<renamed, reason::ok>)
      return found<renamed>{};
    else if constexpr (!std::is_same_v<typename sharding_traits<typename result::type>::verdict, reason::ok>)
      return found<typename sharding_traits<typename result::type>::verdict>{};
    else
      return check_stages<fourier_layout<Kind, Along, Named, A>, A>(
          std::make_integer_sequence<int, fourier_layout<Kind, Along, Named, A>::stages.count>{});
  }
}

template <class Operation, class A, class... Dims>
consteval auto check_transformed_axes(type_list<Dims...>) {
  return found<first_fault<axis_argument_verdict<Operation, Dims, A>...,
                           typename sharding_traits<canonical_sharding<Dims...>>::verdict>>{};
}

template <class Operation, fourier_kind Kind, class Along, class Named, class A>
consteval auto check_fourier() {
  using own =
      first_fault<typename sharding_traits<sharding_in<A>>::verdict, typename sharding_traits<Named>::verdict,
                  blocks_verdict<Named, A>,
                  typename decltype(check_transformed_axes<Operation, A>(typename dims_of_call<Along>::type{}))::type,
                  typename decltype(check_fourier_elements<Operation, Kind, typename A::value_type>())::type,
                  typename decltype(check_linear<Operation, A>())::type>;
  if constexpr (!std::is_same_v<own, reason::ok>)
    return found<own>{};
  else
    return check_fourier_names<Operation, Kind, Along, Named, A>();
}

/// `reason::ok`, or the reason why A cannot be transformed in this way.
template <class Operation, fourier_kind Kind, class Along, class Named, class A>
using fourier_verdict = typename decltype(check_fourier<Operation, Kind, Along, Named, A>())::type;

}  // namespace ostraka::detail
