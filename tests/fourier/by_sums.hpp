// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The oracle of Fourier transforms of whole tensors: sums in long double.

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <ostraka/tensors/element_types.hpp>
#include <ostraka/types/values/fourier_kind.hpp>

#include "support/global_tensor.hpp"

namespace ostraka::testing {

using exact = std::complex<long double>;

template <class T>
exact exactly(T const& x) {
  if constexpr (std::is_floating_point_v<T>)
    return exact(x);
  else
    return exact(x.real(), x.imag());
}

template <class T>
T rounded(exact const& x) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(x.real());
  } else {
    using real = std::remove_cvref_t<decltype(T().real())>;
    return T(static_cast<real>(x.real()), static_cast<real>(x.imag()));
  }
}

/// The transform of length n along `from`, which becomes `to`.
template <class U, class T>
global_tensor<U> by_sums(fourier_kind kind, global_tensor<T> const& x, char from, char to, std::int64_t n) {
  global_tensor<U> y{x.labels, x.extents, {}};
  y.labels[x.labels.find(from)] = to;
  std::int64_t const read = x.extents.at(from), written = has_half_spectrum(kind) ? n / 2 + 1 : n;
  y.extents[to] = written;
  y.values.resize(static_cast<std::size_t>(number_of_elements(y.labels, y.extents)));
  auto const root = [&](std::int64_t k) {
    return std::polar(1.0L, -2 * 3.14159265358979323846264338327950288L * static_cast<long double>(k % n) /
                                static_cast<long double>(n));
  };
  for_each_index(y.labels, y.extents, [&](extents_by_letter const& at) {
    exact sum = 0;
    extents_by_letter place = at;
    for (std::int64_t j = 0; j < read && n > 0; ++j) {
      place[from] = j;
      exact const v = exactly(x.values[x.position(place)]), w = root(j * at.at(to));
      bool const alone = j == 0 || 2 * j == n;
      switch (kind) {
        case fourier_kind::fft:
        case fourier_kind::rfft:
          sum += v * w;
          break;
        case fourier_kind::ifft:
          sum += v * std::conj(w) / static_cast<long double>(n);
          break;
        default:
          sum += (alone ? v.real() * w.real() : 2 * (v * std::conj(w)).real()) / static_cast<long double>(n);
      }
    }
    y.values[y.position(at)] = rounded<U>(sum);
  });
  return y;
}

/// True if these may differ, by units in the last place of sums of `count` numbers, which are at most 8. `units`: those
/// of a number itself.
template <class T>
auto close_to(std::int64_t count, int units) {
  using real = ostraka::detail::real_of<T>;
  double const most = 8.0 * (units + std::log2(1.0 + static_cast<double>(count))) * 8.0 *
                      std::sqrt(static_cast<double>(count) + 1) * std::numeric_limits<real>::epsilon();
  return [most](T const& got, T const& want) {
    return std::abs(exactly(got) - exactly(want)) <= static_cast<long double>(most);
  };
}

}  // namespace ostraka::testing
