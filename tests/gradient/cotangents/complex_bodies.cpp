// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Complex blocks under a function of the program's own (os::preduce) and with their neighbours' (halos): gradients by
/// differences in both parts.
// sham:

#include <doctest/doctest.h>

#include <ostraka/gradient.hpp>
#include <ostraka/operations.hpp>

#include <cstdint>

#include "gradient/cotangents/complex_numbers.hpp"
#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

using t::complex;

OSTRAKA_AXIS(M, 3);
OSTRAKA_AXIS(N, 3);

namespace {

template <class Y>
auto squares(Y const& y) {
  return os::sum<>(os::real(y * os::conj(y)));
}

// Matrices of two rows and columns, one after the other.
constexpr auto matrices = [](auto const& a, auto const& b) {
  return os::einsum<I, J>(os::rename<J, K>(a), os::rename<I, K>(b));
};

}  // namespace

TEST_CASE("products of matrices by os::preduce") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'I', 2 * m.size("X")}, {'J', 2}};
    t::check_by_complex_differences<os::tensor<complex, I/X, J>>(m, e, "IJ", [](auto const& p) {
      return squares(os::shard_map<I, J>([](auto a) { return os::preduce<X>(matrices, a); }, p));
    });
  });
}

TEST_CASE("convolutions of blocks with halos") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'I', 2 * m.size("X") + 1}, {'J', 2 * m.size("Y")}, {'M', 3}, {'N', 3}};
    auto const weights = t::placed<os::tensor<complex, M, N>>(m, t::complex_numbers<complex>(5, "MN", e));
    t::check_by_complex_differences<os::tensor<complex, I/X, J/Y>>(m, e, "IJ", [&](auto const& p) {
      return squares(os::shard_map<I/X, J/Y>(
          [](auto k, auto a) {
            auto const padded = os::exchange_halo<os::halo<I, 1>/X, os::halo<J, 1>/Y>(a);
            return os::einsum<I, J>(os::patches<M, N>(padded), k);
          },
          weights, p));
    });
  });
}
