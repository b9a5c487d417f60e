// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Results without axes: dot products, traces, norms, bilinear forms, of every division; partial ones on request. Σ_i
/// x_i y_i is on every device, the same bits on each.
// sham:

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "support/einsum_case.hpp"

namespace os = ostraka;
namespace t = os::testing;

using os::dims;
using os::partial;
using t::check_einsum;

namespace {

using number = std::int64_t;

struct conjugate {
  template <class R>
  KOKKOS_FUNCTION Kokkos::complex<R> operator()(Kokkos::complex<R> z) const {
    return {z.real(), -z.imag()};
  }
};

}  // namespace

TEST_CASE("dot products") {
  t::on_meshes_and_extents([](t::test_mesh const& m, t::extents_by_letter const& e) {
    check_einsum<number>(m, e, dims<>{}, dims<J>{}, dims<J>{});
    check_einsum<number>(m, e, dims<>{}, dims<J/X>{}, dims<J>{});
    check_einsum<number>(m, e, dims<>{}, dims<J/X>{}, dims<J/X>{});
    check_einsum<number>(m, e, dims<>{}, dims<J/X/Y>{}, dims<J/X>{});
    check_einsum<number>(m, e, dims<>{}, dims<J/X/Y>{}, dims<J/Y/X>{});
    check_einsum<number>(m, e, dims<>{}, dims<J/X, partial(Y)>{}, dims<J/X>{});
    check_einsum<number>(m, e, dims<partial(X)>{}, dims<J/X>{}, dims<J/X>{});
    check_einsum<number>(m, e, dims<partial(X, Y)>{}, dims<J/X>{}, dims<J/Y>{});
    check_einsum<number>(m, e, dims<partial(Z)>{}, dims<J/X>{}, dims<J/X>{});
  });
}

TEST_CASE("inner products of matrices, traces of products") {
  t::on_meshes_and_extents([](t::test_mesh const& m, t::extents_by_letter const& e) {
    check_einsum<number>(m, e, dims<>{}, dims<I/X, J/Y>{}, dims<I/X, J/Y>{});
    check_einsum<number>(m, e, dims<>{}, dims<I/X, J>{}, dims<J/X, I>{});
    check_einsum<number>(m, e, dims<partial(X, Y)>{}, dims<I/X, J/Y>{}, dims<J/Y, I/X>{});
    check_einsum<number>(m, e, dims<>{}, dims<I>{}, dims<K/X>{}, os::sum_over(I, K));  // the product of two sums
    check_einsum<number>(m, e, dims<>{}, dims<>{}, dims<>{});
    check_einsum<number>(m, e, dims<>{}, dims<partial(X)>{}, dims<>{});
    check_einsum<number>(m, e, dims<>{}, dims<partial(X)>{}, dims<J/Y>{}, os::sum_over(J));
    check_einsum<number>(m, e, dims<partial(X)>{}, dims<>{}, dims<>{});
  });
}

TEST_CASE("sums") {
  t::on_meshes_and_extents([](t::test_mesh const& m, t::extents_by_letter const& e) {
    check_einsum<number>(m, e, dims<>{}, dims<I, J>{});
    check_einsum<number>(m, e, dims<>{}, dims<I/X, J/Y, partial(Z)>{});
    check_einsum<number>(m, e, dims<partial(X)>{}, dims<I/X, J/Y>{});
    check_einsum<number>(m, e, dims<partial(X)>{}, dims<>{});
    check_einsum<number>(m, e, dims<>{}, dims<partial(X, Y)>{});
  });
}

TEST_CASE("a bilinear form, and the same bits everywhere") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'I', 11}, {'J', 6}};
    auto const odd = [](auto const& tensor, double salt) {
      auto const local = Kokkos::create_mirror_view(tensor.local());
      for (std::size_t i = 0; i < local.size(); ++i) local.data()[i] = std::sin(static_cast<double>(i) + salt);
      Kokkos::deep_copy(tensor.local(), local);
      return tensor;
    };
    auto const x = odd(t::placed<os::tensor<double, I/X>>(m, t::whole_numbers<double>("I", e, 1)), t::rank());
    auto const a = odd(t::placed<os::tensor<double, I/X, J/Y>>(m, t::whole_numbers<double>("IJ", e, 2)), t::rank() * 3);
    auto const y = odd(t::placed<os::tensor<double, J/Y/Z>>(m, t::whole_numbers<double>("J", e, 3)), t::rank() * 7);
    double const form = os::value(os::einsum<>(x, a, y));
    std::vector<char> mine(sizeof form);
    std::memcpy(mine.data(), &form, sizeof form);
    for (std::vector<char> const& theirs : t::bytes_of_ranks(mine)) CHECK(theirs == mine);
  });
}

TEST_CASE("norms") {
  auto const mesh = os::make_mesh(X = t::ranks());
  for (std::int64_t n : {0, 1, 5, 17}) {
    auto const z = os::zeros<std::complex<double>, I/X>(mesh, I = n);
    auto const local = Kokkos::create_mirror_view(z.local());
    for (std::size_t i = 0; i < local.extent(0); ++i)
      local(i) = Kokkos::complex<double>(static_cast<double>(z.global_offset(I) + static_cast<std::int64_t>(i)), 1);
    Kokkos::deep_copy(z.local(), local);
    double expected = 0;
    for (std::int64_t i = 0; i < n; ++i) expected += static_cast<double>(i * i + 1);
    auto const squared = os::value(os::einsum<>(os::map(conjugate{}, z), z));
    CHECK(squared.real() == expected);
    CHECK(squared.imag() == 0);
  }
}
