// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// os::fft, ifft, rfft and irfft beside NumPy's: the same factors, signs and halves.
// ranks: 1 3
// sham:

#include <doctest/doctest.h>

#include <ostraka/fft.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "fourier/numpy_transforms.hpp"
#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

using complex = Kokkos::complex<double>;

/// The same numbers as in numpy/make.py.
double number(std::uint64_t seed, std::uint64_t place) {
  std::uint64_t z = ((seed << 32) + place + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  z = z ^ (z >> 31);
  return static_cast<double>(z >> 11) * 0x1p-52 - 1;
}

/// Two columns of n numbers.
template <class T>
t::global_tensor<T> numbers(std::uint64_t seed, std::int64_t n) {
  t::global_tensor<T> g{"IJ", {{'I', n}, {'J', 2}}, {}};
  for (std::uint64_t at = 0; at < static_cast<std::uint64_t>(2 * n); ++at)
    if constexpr (std::is_same_v<T, double>)
      g.values.push_back(number(seed, at));
    else
      g.values.push_back(complex(number(seed, at), number(seed + 1, at)));
  return g;
}

/// NumPy's results.
template <class T>
t::global_tensor<T> result(std::vector<double> const& parts, std::int64_t n) {
  t::global_tensor<T> g{"KJ", {{'K', n}, {'J', 2}}, {}};
  for (std::size_t at = 0; at < static_cast<std::size_t>(2 * n); ++at)
    if constexpr (std::is_same_v<T, double>)
      g.values.push_back(parts.at(at));
    else
      g.values.push_back(complex(parts.at(2 * at), parts.at(2 * at + 1)));
  return g;
}

bool are_near(complex const& a, complex const& b) {
  return std::hypot(a.real() - b.real(), a.imag() - b.imag()) <= 1e-14;
}

}  // namespace

TEST_CASE("what NumPy computes") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::numpy_transforms const& numpy : t::by_numpy) {
      std::int64_t const n = numpy.n, half = n / 2 + 1;
      INFO(m.text(), n);
      auto const z = t::placed<os::tensor<complex, I/X, J>>(m, numbers<complex>(1, n));
      auto const r = t::placed<os::tensor<double, I/X, J>>(m, numbers<double>(3, n));
      auto const h = t::placed<os::tensor<complex, I/X, J>>(m, numbers<complex>(4, half));
      CHECK(t::disagreements(m, os::fft<I/X, K, J/X>(z), result<complex>(numpy.fft, n), are_near) == 0);
      CHECK(t::disagreements(m, os::ifft<I/X, K/X>(z), result<complex>(numpy.ifft, n), are_near) == 0);
      CHECK(t::disagreements(m, os::rfft<I/X, K, J/X>(r), result<complex>(numpy.rfft, half), are_near) == 0);
      CHECK(t::disagreements(m, os::irfft<I/X, K/X>(h, K = n), result<double>(numpy.irfft, n), are_near) == 0);
    }
  });
}
