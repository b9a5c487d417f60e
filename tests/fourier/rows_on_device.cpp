// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Fourier transforms of rows in the memory of the default execution space, against sums in long double: each kind, few
/// and short rows, rows of other lengths, and many rows; memory that is aligned as complex numbers are and memory that
/// is not. On a GPU this is cuFFT's or hipFFT's work if ostraka::cufft is found, otherwise the host's.
/// tests/sham/cufft.cpp counts what it costs.
// ranks: 1
// gpu:

#include <doctest/doctest.h>

#include <Kokkos_Core.hpp>

#include <ostraka/engine/kernels/fourier/transform_rows.hpp>

#include <cstdint>
#include <vector>

#include "fourier/rows_on_device.hpp"

namespace os = ostraka;
namespace t = os::testing;
using os::engine::fourier_rows;

namespace {

/// `off`: numbers by which memory misses its alignment.
template <class R>
void check(fourier_rows const& rows, int off_x = 0, int off_y = 0) {
  INFO(os::name_of(rows.kind), ", reals: ", rows.of_reals, ", ", rows.n, ": ", rows.outer, " x ", rows.step);
  Kokkos::DefaultExecutionSpace const exec;
  std::vector<R> const x = t::some_numbers<R>(rows.numbers_read());
  t::placed_array<R> const from(x, 2 + off_x);
  t::placed_array<R> const to(std::vector<R>(static_cast<std::size_t>(rows.numbers_written())), 2 + off_y);
  os::engine::transform_rows(exec, rows, static_cast<R const*>(from.data()), to.data());
  std::vector<R> const want = t::transformed_by_sums(rows, x);
  CHECK(t::error_of(to.values(), want, rows.n) <= 1);
  CHECK(from.values() == x);
  if (rows.is_real() || rows.of_reals) return;
  os::engine::transform_rows(exec, rows, static_cast<R const*>(from.data()), from.data());
  CHECK(t::error_of(from.values(), want, rows.n) <= 1);
}

template <class R>
void check_all() {
  for (fourier_rows const& rows : t::short_rows()) {
    check<R>(rows);
    if (rows.of_reals || rows.is_real()) check<R>(rows, 1, 1);
  }
  for (auto const& [kind, of_reals] : t::every_kind()) {
    for (std::int64_t const n : {4, 7, 16, 31, 64, 97, 120, 243})
      for (std::int64_t const outer : {1, 4})
        for (std::int64_t const step : {1, 6}) check<R>({kind, n, outer, step, of_reals});
    check<R>({kind, 2, 3, 11000, of_reals});
    check<R>({kind, 3, 90, 30, of_reals});
  }
}

}  // namespace

TEST_CASE("rows of double") { check_all<double>(); }
TEST_CASE("rows of float") { check_all<float>(); }
