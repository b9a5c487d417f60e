// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Transforms into existing tensors allocate nothing in a steady state: rows that are whole,
/// slabs and pencils, there and back.
// ranks: 1 2 4
// sham:

#include <doctest/doctest.h>

#include <ostraka/fft.hpp>

#include "support/counted_allocations.hpp"

#ifdef OSTRAKA_COUNTS_ALLOCATIONS

namespace os = ostraka;
namespace t = os::testing;

OSTRAKA_AXIS(P);
OSTRAKA_AXIS(Q);
OSTRAKA_AXIS(R);

TEST_CASE("one axis, slabs, and real numbers there and back") {
  using complex = Kokkos::complex<double>;
  auto const mesh = os::make_mesh(X = t::ranks());
  auto const sizes = os::sizes(I = 12, J = 10, L = 15);
  auto const a = os::zeros<complex, I/X, J, L>(mesh, sizes);
  auto const rows = os::zeros<complex, I/X, J, R>(mesh, I = 12, J = 10, R = 15);
  auto const slabs = os::zeros<complex, P, Q/X, R>(mesh, P = 12, Q = 10, R = 15);
  auto const u = os::zeros<double, I/X, J, L>(mesh, sizes);
  auto const half = os::zeros<complex, P, Q/X, R>(mesh, P = 12, Q = 10, R = 8);
  CHECK(t::most_in_steady_state([&] { os::fft_into<L>(rows, a); }) == 0);
  CHECK(t::most_in_steady_state([&] { os::fft_into<os::dims<I/X, J, L>>(slabs, a); }) == 0);
  CHECK(t::most_in_steady_state([&] { os::ifft_into<os::dims<P, Q/X, R>>(a, slabs); }) == 0);
  CHECK(t::most_in_steady_state([&] { os::rfft_into<os::dims<I/X, J, L>>(half, u); }) == 0);
  CHECK(t::most_in_steady_state([&] { os::irfft_into<os::dims<P, Q/X, R>>(u, half); }) == 0);
}

TEST_CASE("pencils there and back") {
  using complex = Kokkos::complex<double>;
  auto const mesh = os::make_mesh(X = t::ranks() / (t::ranks() > 1 ? 2 : 1), Y = t::ranks() > 1 ? 2 : 1);
  auto const u = os::zeros<double, I/X, J/Y, L>(mesh, os::sizes(I = 12, J = 10, L = 15));
  auto const half = os::zeros<complex, P, Q/X, R/Y>(mesh, P = 12, Q = 10, R = 8);
  CHECK(t::most_in_steady_state([&] { os::rfft_into<os::dims<I/X, J/Y, L>>(half, u); }) == 0);
  CHECK(t::most_in_steady_state([&] { os::irfft_into<os::dims<P, Q/X, R/Y>>(u, half); }) == 0);
}

#endif
