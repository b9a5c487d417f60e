// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The snippets of docs/fft.md as the page prints them, run on 4 ranks.

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>

#include <ostraka/fft.hpp>
#include <ostraka/foresight/cost_of.hpp>
#include <ostraka/gradient.hpp>
#include <ostraka/meshes/dry_mesh.hpp>
#include <ostraka/operations.hpp>

#include "support/on_meshes.hpp"

namespace os = ostraka;

namespace spectral {

OSTRAKA_AXIS(I);  OSTRAKA_AXIS(J);  OSTRAKA_AXIS(L);
OSTRAKA_AXIS(KI);  OSTRAKA_AXIS(KJ);  OSTRAKA_AXIS(KL);
OSTRAKA_MESH_AXIS(X);  OSTRAKA_MESH_AXIS(Y);

using complex = Kokkos::complex<double>;

constexpr int n = 6;

double wave(std::int64_t i, std::int64_t j) {
  return std::sin(2 * M_PI * static_cast<double>(i) / n) * static_cast<double>(j + 1);
}

struct smooth_field {
  KOKKOS_INLINE_FUNCTION double operator()(std::int64_t i, std::int64_t j, std::int64_t l) const {
    return static_cast<double>((i * 5 + j * 3 + l * 7) % 11) - 5.0;
  }
};

struct times_i_k {
  std::int64_t n;
  KOKKOS_INLINE_FUNCTION complex operator()(std::int64_t k, std::int64_t) const {
    return complex(0, 2 * k < n ? static_cast<double>(k) : 2 * k == n ? 0.0 : static_cast<double>(k - n));
  }
};

TEST_CASE("one axis") {
  auto mesh = os::make_mesh(X = 4);
  auto A = os::generate<double, I, J/X>(mesh, I = n, J = 5, wave);
  auto whole = os::fft<I, KI>(A);

  auto B = os::reshard<I/X, J>(A);
  auto divided = os::fft<I/X, KI/X>(B);
  auto transposed = os::fft<I/X, KI, J/X>(B);
  static_assert(std::is_same_v<decltype(divided), os::tensor<complex, KI/X, J>>);
  static_assert(std::is_same_v<decltype(transposed), os::tensor<complex, KI, J/X>>);
  CHECK(os::value(os::max<>(os::abs(whole - transposed))) < 1e-13);

  auto half = os::rfft<I, KI>(A);
  auto back = os::irfft<KI, I>(half, I = n);
  CHECK(half.extent(KI) == n / 2 + 1);
  CHECK(os::value(os::max<>(os::abs(back - A))) < 1e-13);
}

TEST_CASE("three axes") {
  auto mesh = os::make_mesh(X = 2, Y = 2);
  auto u = os::generate<double, I/X, J/Y, L>(mesh, I = 8, J = 6, L = 10, smooth_field{});

  auto U = os::rfft<os::dims<I/X, J/Y, L>, KI, KJ/X, KL/Y>(u);
  auto v = os::irfft<os::dims<KI, KJ/X, KL/Y>, I/X, J/Y, L>(U, L = 10);
  static_assert(std::is_same_v<decltype(v), decltype(u)>);
  CHECK(os::value(os::max<>(os::abs(u - v))) < 1e-13);

  auto a = os::rfft<L, KL>(u);
  auto b = os::fft<J/Y, I/X, KJ, KL/Y>(a);
  auto c = os::fft<I/X, KI, KJ/X, KL/Y>(b);
  static_assert(std::is_same_v<decltype(c), decltype(U)>);
  CHECK(os::value(os::max<>(os::abs(U - c))) < 1e-11);

  auto W = os::rfft<os::dims<I/X, J/Y, L>, KI, KJ/X, KL/Y>(u);
  os::rfft_into<os::dims<I/X, J/Y, L>>(W, u);
  os::irfft_into<os::dims<KI, KJ/X, KL/Y>>(v, W);
  CHECK(os::value(os::max<>(os::abs(U - W))) == 0);
  CHECK(os::value(os::max<>(os::abs(u - v))) < 1e-13);
}

TEST_CASE("a derivative in space, and one of a loss") {
  auto mesh = os::make_mesh(X = 4);
  auto u = os::generate<double, I/X, J>(mesh, I = n, J = 5, wave);

  auto derivative = [&](auto const& field) {
    auto spectrum = os::fft<I/X, KI, J/X>(field);
    auto ik = os::generate<complex, KI, J/X>(mesh, KI = n, J = 5, times_i_k{n});
    return os::real(os::ifft<KI, I/X, J>(spectrum * ik));
  };
  auto slope = derivative(u);
  auto energy = [&](auto const& field) { return os::sum<>(os::square(derivative(field))); };
  auto [loss, gradient] = os::value_and_grad(energy)(u);
  CHECK(std::abs(os::value(loss) - os::value(os::sum<>(os::square(slope)))) < 1e-12);
  CHECK(os::value(os::max<>(os::abs(gradient - 2.0 * u))) < 1e-12);  // −2 ∂²u
}

TEST_CASE("prices") {
  auto mesh = os::make_mesh(X = 4);
  auto A = os::generate<double, I/X, J>(mesh, I = n, J = 5, wave);

  auto bytes = os::bytes_of(os::operation::fourier<os::fourier_kind::fft, decltype(I/X), os::sharding_of<KI/X>>(), A);

  auto large = os::dry_mesh(X = 64);
  auto u = os::zeros<complex, I/X, J, L>(large, I = 512, J = 512, L = 512);
  auto cost = os::cost_of(large, [&] { return os::fft<I/X, KI, J/X, L>(u); });
  CHECK(cost.bytes == 16 * 8 * (512 - 8) * 512);
  CHECK(bytes > 0);
}

}  // namespace spectral
