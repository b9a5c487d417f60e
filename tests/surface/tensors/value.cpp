// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// os::value: every device knows the element of a tensor without axes. A[I_X] summed to []
// sham:

#include <doctest/doctest.h>

#include <complex>
#include <cstdint>

#include <ostraka/ostraka.hpp>

#include "support/axes.hpp"
#include "support/mpi_main.hpp"

namespace os = ostraka;

namespace {

struct index_as_number {
  template <class N>
  KOKKOS_FUNCTION double operator()(N i) const {
    return static_cast<double>(i);
  }
};

}  // namespace

TEST_CASE("every device reads the same number") {
  auto const mesh = os::make_mesh(X = os::testing::ranks());
  for (std::int64_t n : {0, 1, 5, 40}) {
    auto const a = os::generate<double, I / X>(mesh, I = n, index_as_number{});
    double expected = 0;
    for (std::int64_t i = 0; i < n; ++i) expected += static_cast<double>(i);
    CHECK(os::value(os::sum<>(a)) == expected);
  }
}

TEST_CASE("complex numbers and integers") {
  auto const mesh = os::make_mesh(X = os::testing::ranks());
  auto const z = os::zeros<std::complex<float>>(mesh);
  Kokkos::deep_copy(z.local(), Kokkos::complex<float>(1, -2));
  CHECK(os::value(z).real() == 1);
  CHECK(os::value(z).imag() == -2);
  auto const k = os::zeros<std::int64_t>(mesh);
  CHECK(os::value(k) == 0);
}

TEST_CASE("a tensor that is assigned to itself keeps its block") {
  auto const mesh = os::make_mesh(X = os::testing::ranks());
  os::tensor<double> a = os::full<double>(mesh, 3);
  auto const& same = a;
  void const* const block = a.local().data();
  a = same;
  auto const other = os::full<double>(mesh, 4);
  CHECK(a.local().data() == block);
  CHECK(a.local().use_count() == 1);
  CHECK(other.local().data() != block);
  CHECK(os::value(a) == 3);
}

TEST_CASE("an empty handle has no number") {
  CHECK_THROWS_AS(static_cast<void>(os::value(os::tensor<double>())), os::error);
}
