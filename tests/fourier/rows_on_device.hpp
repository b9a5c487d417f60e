// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// For tests of Fourier transforms of rows in the memory of the default execution space: arrays there, and the expected
/// results, by sums in long double.

#include <doctest/doctest.h>

#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <ostraka/engine/kernels/fourier/fourier_rows.hpp>

#include "support/rows_by_sums.hpp"

namespace ostraka::testing {

/// An array in the space's memory, behind `before` numbers, which stay as they are, as do those behind it.
template <class R>
class placed_array {
 public:
  placed_array(std::vector<R> const& values, int before)
      : before_(static_cast<std::size_t>(before)), size_(values.size()), memory_("array", size_ + before_ + 4) {
    std::vector<R> all(memory_.extent(0), R(77));
    for (std::size_t i = 0; i < size_; ++i) all[before_ + i] = values[i];
    Kokkos::deep_copy(memory_, host_view(all.data(), all.size()));
  }

  [[nodiscard]] R* data() const { return memory_.data() + before_; }
  [[nodiscard]] std::vector<R> values() const {
    std::vector<R> all(memory_.extent(0));
    Kokkos::deep_copy(host_view(all.data(), all.size()), memory_);
    for (std::size_t i = 0; i < all.size(); ++i)
      if (i < before_ || i >= before_ + size_) CHECK(all[i] == R(77));
    return {all.begin() + static_cast<std::ptrdiff_t>(before_),
            all.begin() + static_cast<std::ptrdiff_t>(before_ + size_)};
  }

 private:
  using host_view = Kokkos::View<R*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  std::size_t before_, size_;
  Kokkos::View<R*> memory_;
};

template <class R>
std::vector<R> some_numbers(std::int64_t count) {
  std::vector<R> x(static_cast<std::size_t>(count));
  std::uint64_t state = static_cast<std::uint64_t>(count);
  for (R& v : x) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    v = static_cast<R>(static_cast<double>(state >> 40) / (1 << 23) - 1);
  }
  return x;
}

template <class R>
std::vector<R> transformed_by_sums(engine::fourier_rows const& rows, std::vector<R> const& x) {
  std::vector<exact_number> from;
  for (std::size_t i = 0; i < x.size(); i += rows.of_reals ? 1 : 2)
    from.push_back(rows.of_reals ? exact_number(x[i]) : exact_number(x[i], x[i + 1]));
  std::vector<R> y;
  for (exact_number const& v : rows_by_sums(rows, from)) {
    y.push_back(static_cast<R>(v.real()));
    if (!has_real_result(rows.kind)) y.push_back(static_cast<R>(v.imag()));
  }
  return y;
}

/// The largest error, in units of the last place of sums of n numbers of at most 1.
template <class R>
double error_of(std::vector<R> const& y, std::vector<R> const& want, std::int64_t n) {
  REQUIRE(y.size() == want.size());
  double worst = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    double const error = std::abs(static_cast<double>(y[i]) - static_cast<double>(want[i]));
    worst = error <= worst ? worst : error;  // a NaN stays
  }
  return worst / (static_cast<double>(std::numeric_limits<R>::epsilon()) * static_cast<double>(n + 1));
}

/// All kinds, with true for those that read reals.
inline std::vector<std::pair<fourier_kind, bool>> every_kind() {
  using kind = fourier_kind;
  return {{kind::fft, false},
          {kind::fft, true},
          {kind::ifft, false},
          {kind::ifft, true},
          {kind::rfft, true},
          {kind::irfft, false},
          {kind::rfft_transposed, false},
          {kind::irfft_transposed, true}};
}

/// Rows of every kind, of few and short rows, one after another, side by side and both.
inline std::vector<engine::fourier_rows> short_rows() {
  std::vector<engine::fourier_rows> all;
  for (auto const& [kind, of_reals] : every_kind())
    for (std::int64_t const n : {0, 1, 2, 3, 5, 8, 12})
      for (std::int64_t const outer : {0, 1, 2, 3, 7})
        for (std::int64_t const step : {0, 1, 2, 3, 9}) all.push_back({kind, n, outer, step, of_reals});
  return all;
}

}  // namespace ostraka::testing
