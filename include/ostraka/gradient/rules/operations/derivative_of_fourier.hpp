// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The derivatives of Fourier transforms, which are linear: their transposes. The matrix of fft and ifft is
/// symmetric, so each is its own transpose. rfft and irfft have transposes of their own
/// (types/values/fourier_kind.hpp), whose transposes are rfft and irfft. Each move is undone: a cotangent goes straight
/// to the sharding of the operand's cotangents. If the forward converted real numbers to complex ones, the backward
/// takes the real part.

#include <cstdint>
#include <type_traits>

#include <ostraka/fourier/fourier_operation.hpp>
#include <ostraka/gradient/rules/elements/derivative_of_functions.hpp>
#include <ostraka/gradient/rules/operations/derivative_of_shapes.hpp>
#include <ostraka/plan/typed/inside.hpp>

namespace ostraka {

namespace detail {

/// The axes Ks with the mesh axes that divide them in a G, as a call names them, and Is divided likewise: one axis, or
/// several.
template <class G, class Is, class Ks>
struct fourier_call;
template <class G, class I, class K>
struct fourier_call<G, type_list<I>, type_list<K>> {
  using along = typename divided_over<K, splits_of<K, sharding_in<G>>>::type;
  using alone = sharding<typename divided_over<I, splits_of<K, sharding_in<G>>>::type>;
};
template <class G, class... Is, class... Ks>
struct fourier_call<G, type_list<Is...>, type_list<Ks...>> {
  using along = dims<typename divided_over<Ks, splits_of<Ks, sharding_in<G>>>::type{}...>;
  using alone = sharding<typename divided_over<Is, splits_of<Ks, sharding_in<G>>>::type...>;
};

template <fourier_kind Kind, class Is, class Ks>
struct fourier_pullback {
  std::int64_t n;  // extent of the call's last axis in the operand

  template <int, class Wanted, class G>
  constexpr Wanted pull(G const& g) const {
    using call = fourier_call<G, Is, Ks>;
    constexpr bool moves_directly =
        varying_in<G>::size == 0 && G::rank > 1 && sharding_traits<sharding_in<Wanted>>::partials::size == 0 &&
        sharding_traits<sharding_in<G>>::partials::size == 0 &&
        std::is_same_v<new_axes<axes_in<Wanted>, axes_in<G>, Ks>, Is>;  // true if a call names the new axes in this
                                                                        // order
    using named = std::conditional_t<moves_directly, sharding_in<Wanted>, typename call::alone>;
    ostraka::operation::fourier<transpose_of(Kind), typename call::along, named> const back{};
    if constexpr (has_real_result(transpose_of(Kind)))
      return summed_to<Wanted>(operate(back, g, fourier_length{n}));
    else
      return summed_to<Wanted>(projected<typename Wanted::value_type>(operate(back, g)));
  }
};

}  // namespace detail

template <fourier_kind Kind, class Along, class Named>
struct derivative_of<operation::fourier<Kind, Along, Named>> {
  template <class Result, class A, class... Given>
  static constexpr auto pullback(operation::fourier<Kind, Along, Named> const&, Result const&, A const& a,
                                 Given const&...) {
    using Is = detail::transformed_axes<Along>;
    using last = typename detail::type_at<Is, Is::size - 1>::type;
    using Ks = detail::new_axes<axes_in<Result>, axes_in<A>, Is>;
    return detail::fourier_pullback<Kind, Is, Ks>{detail::argument_extent<last>(a)};
  }
};

}  // namespace ostraka
