// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The derivatives of running sums, products and extremes along an axis. Each consists of running sums in the
/// opposite direction, so if the axis is divided, one number a row moves, as in the forward. For an extreme, cotangents
/// go to the position where it was reached first.
///
///     cumsum            cumsum of g in the other direction
///     cumprod           cumsum of g y in the other direction, divided by x; zeros are left out
///     cummax, cummin    scatter_add of g by the position of the extreme so far

#include <cstdint>
#include <limits>
#include <type_traits>

#include <ostraka/gradient/rules/algebra/derivative_of_reductions.hpp>
#include <ostraka/gradient/rules/elements/derivative_of_choices.hpp>
#include <ostraka/gradient/rules/operations/derivative_of_indices.hpp>
#include <ostraka/operations/creation/iota.hpp>
#include <ostraka/operations/reductions/cumsum.hpp>

namespace ostraka {

namespace detail {

template <class Along, reduction How, class X>
constexpr auto cumulate_as(X const& x, scan_option how) {
  return operate(ostraka::operation::cumulate<Along, How>{how}, x);
}

/// The transpose of a running sum: a running sum in the other direction.
[[nodiscard]] constexpr scan_option transposed(scan_option how) { return {how.is_exclusive, !how.is_reversed}; }

template <class Along>
struct cumsum_pullback {
  scan_option how;

  template <int, class Wanted, class G>
  constexpr Wanted pull(G const& g) const {
    return summed_to<Wanted>(cumulate_as<Along, reduction::sum>(g, transposed(how)));
  }
};

struct one_if_zero {
  template <class T>
  KOKKOS_INLINE_FUNCTION std::int64_t operator()(T const& x) const {
    return x == T(0.0f) ? 1 : 0;
  }
};

/// 1 if exactly `wanted` zeros have been met, else 0.
template <class T>
struct is_count {
  std::int64_t wanted;
  KOKKOS_INLINE_FUNCTION T operator()(std::int64_t zeros) const { return zeros == wanted ? T(1.0f) : T(0.0f); }
};

/// The cotangent of element k is the sum over the products that contain it, without it: Σ_i g_i Π_{j ≤ i, j ≠ k} x_j.
/// The product of the factors that are not zero is y_i / x_k, with 1 in place of zeros. The product of the zeros is 1
/// if there are none; if there is one, it is that factor itself, which matters for a second derivative.
template <class Along, class A>
struct cumprod_pullback {
  kept<true, A> operand;
  scan_option how;

  template <int, class Wanted, class G>
  constexpr Wanted pull(G const& g) const {
    using T = typename A::value_type;
    auto const& x = operand.get();
    auto const plain_x = stop_gradient(x);
    auto const is_null = ostraka::equal(plain_x, 0.0);
    auto const met = cumulate_as<Along, reduction::sum>(ostraka::map(one_if_zero{}, plain_x), how);
    auto const none = ostraka::map(is_count<T>{0}, met), one = ostraka::map(is_count<T>{1}, met);
    auto const without = ostraka::map(one_for_zero{}, x);
    auto const gy = ostraka::multiply(g, cumulate_as<Along, reduction::prod>(without, how));
    auto const back = [&](auto const& v) { return cumulate_as<Along, reduction::sum>(v, transposed(how)); };
    auto const of_others = [&](auto const& with_none) { return ostraka::divide(back(with_none), without); };
    auto const gy_one = ostraka::multiply(gy, one);
    if constexpr (any_variable<plain_type<A>>) {
      auto const two = ostraka::map(is_count<T>{2}, met);
      auto const zeros = ostraka::multiply(x, ostraka::map(is_zero{}, plain_x));
      auto const sum = cumulate_as<Along, reduction::sum>(zeros, how);
      auto const gy_two = ostraka::multiply(gy, two);
      auto const of_nonzero = of_others(ostraka::add(ostraka::multiply(gy, none), ostraka::multiply(gy_one, sum)));
      auto const of_zero = ostraka::subtract(back(ostraka::add(gy_one, ostraka::multiply(gy_two, sum))),
                                             ostraka::multiply(x, back(gy_two)));
      return summed_to<Wanted>(ostraka::where(is_null, of_zero, of_nonzero));
    } else {
      return summed_to<Wanted>(ostraka::where(is_null, back(gy_one), of_others(ostraka::multiply(gy, none))));
    }
  }
};

/// The position of an element if it exceeds all earlier ones; else `nowhere`, which is not a position.
template <reduction How>
struct place_if_beyond {
  std::int64_t nowhere;
  template <class T>
  KOKKOS_INLINE_FUNCTION std::int64_t operator()(T const& x, T const& before, std::int64_t place) const {
    return (How == reduction::max ? x > before : x < before) ? place : nowhere;
  }
};

/// The position, or −1 for `nowhere`.
struct place_or_none {
  std::int64_t extent;
  KOKKOS_INLINE_FUNCTION std::int64_t operator()(std::int64_t place) const {
    return place >= 0 && place < extent ? place : -1;
  }
};

/// For every element, the position of the extreme so far: of the last element, in the order of the scan, that exceeded
/// all earlier ones.
template <class Along, reduction How>
struct places_of_extremes {
  static constexpr char const* name = ostraka::operation::cumulate<Along, How>::name;
  scan_option how;

  template <class A>
  using verdict = reason::ok;

  template <class A>
  using moves = moves_in_turn<typename ostraka::operation::cumulate<Along, How>::template moves<A>,
                              moves_of_scan<Along, std::int64_t, A>>;

  template <class When, class A>
  auto run(When const&, A const& a) const {
    using numbers = basic_tensor<std::int64_t, canonical_sharding<Along>, typename A::space>;
    std::int64_t const extent = argument_extent<Along>(a);
    auto const before = cumulate_as<Along, How>(a, {true, how.is_reversed});
    auto const place = allocate<numbers>(a.mesh_handle(), {extent});
    generate_elements(name, place, equal_steps<std::int64_t>{0, 1});
    auto const beyond = ostraka::map(place_if_beyond<How>{how.is_reversed ? extent : -1}, a, before, place);
    constexpr reduction last = reduction::max, first = reduction::min;
    auto const so_far =
        how.is_reversed ? cumulate_as<Along, first>(beyond, how) : cumulate_as<Along, last>(beyond, how);
    return ostraka::map(place_or_none{extent}, so_far);
  }
};

template <class Along, reduction How, class A>
struct running_extreme_pullback {
  kept<true, A> operand;
  scan_option how;
  std::int64_t extent;

  template <int, class Wanted, class G>
  constexpr Wanted pull(G const& g) const {
    using I = typename axis_argument<Along>::axis;
    using by_place = typename rename_sharding<I, place_axis, sharding_in<Wanted>>::type;
    ostraka::operation::scatter_add<place_axis, by_place, promised_range> add;
    add.extent = extent;
    auto const places = operate(places_of_extremes<Along, How>{how}, stop_gradient(operand.get()));
    return ostraka::rename<place_axis{}, I{}>(operate(add, g, places));
  }
};

}  // namespace detail

template <class Along, reduction How>
struct derivative_of<operation::cumulate<Along, How>> {
  template <class Result, class A>
  static constexpr auto pullback(operation::cumulate<Along, How> const& scan, Result const&, A const& x) {
    if constexpr (How == reduction::sum)
      return detail::cumsum_pullback<Along>{scan.how};
    else if constexpr (How == reduction::prod)
      return detail::cumprod_pullback<Along, A>{detail::remember(x), scan.how};
    else
      return detail::running_extreme_pullback<Along, How, A>{detail::remember(x), scan.how,
                                                             detail::argument_extent<Along>(x)};
  }
};

}  // namespace ostraka
