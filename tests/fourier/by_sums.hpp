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
#include <vector>

#include <ostraka/tensors/element_types.hpp>
#include <ostraka/types/values/fourier_kind.hpp>

#include "support/global_tensor.hpp"
#include "support/rows_by_sums.hpp"

namespace ostraka::testing {

using exact = exact_number;

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
  std::vector<exact> const w = roots(n);
  std::vector<exact> row(n > 0 ? static_cast<std::size_t>(read) : 0);
  for_each_index(y.labels, y.extents, [&](extents_by_letter const& at) {
    extents_by_letter place = at;
    for (std::size_t j = 0; j < row.size(); ++j) {
      place[from] = static_cast<std::int64_t>(j);
      row[j] = exactly(x.values[x.position(place)]);
    }
    y.values[y.position(at)] = rounded<U>(by_sum(kind, row, w, at.at(to)));
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
