// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The derivatives of Fourier transforms, which are linear: their transposes. The matrix of fft and ifft is
/// symmetric, so each is its own transpose. rfft and irfft have transposes of their own
/// (types/values/fourier_kind.hpp), whose transposes are rfft and irfft. Each move is undone: a cotangent goes straight
/// to the sharding that the operand wants. If real numbers were taken as complex ones, it is the real part.

#include <cstdint>
#include <type_traits>

#include <ostraka/fourier/fourier_operation.hpp>
#include <ostraka/gradient/rules/elements/derivative_of_functions.hpp>
#include <ostraka/gradient/rules/operations/derivative_of_shapes.hpp>
#include <ostraka/plan/typed/inside.hpp>

namespace ostraka {

namespace detail {

template <fourier_kind Kind, class I, class K>
struct fourier_pullback {
  std::int64_t n;  // of the operand's axis

  template <int, class Wanted, class G>
  constexpr Wanted pull(G const& g) const {
    using along = typename divided_over<K, splits_of<K, sharding_in<G>>>::type;
    using alone = sharding<typename divided_over<I, splits_of<K, sharding_in<G>>>::type>;
    constexpr bool moves_directly = varying_in<G>::size == 0 && G::rank > 1 &&
                                    sharding_traits<sharding_in<Wanted>>::partials::size == 0 &&
                                    sharding_traits<sharding_in<G>>::partials::size == 0;
    using named = std::conditional_t<moves_directly, sharding_in<Wanted>, alone>;
    ostraka::operation::fourier<transpose_of(Kind), along, named> const back{};
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
    using I = typename detail::axis_argument<Along>::axis;
    using K = detail::new_axis<axes_in<Result>, axes_in<A>, I>;
    return detail::fourier_pullback<Kind, I, K>{detail::argument_extent<Along>(a)};
  }
};

}  // namespace ostraka
