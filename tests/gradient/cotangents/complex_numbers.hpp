// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Gradients with respect to complex numbers by differences of the plain program in both parts: ∂u/∂x − i ∂u/∂y.

#include <doctest/doctest.h>

#include <ostraka/gradient.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "support/on_meshes.hpp"

namespace ostraka::testing {

using complex = Kokkos::complex<double>;

/// splitmix64, from −1 up to 1, as oracle/make_complex.py has it.
inline double number_at(std::uint64_t seed, std::uint64_t place) {
  std::uint64_t z = ((seed << 32) + place + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  z ^= z >> 31;
  return static_cast<double>(z >> 11) * 0x1p-52 - 1;
}

/// The imaginary parts of complex numbers have the next seed.
template <class T>
global_tensor<T> complex_numbers(std::uint64_t seed, std::string const& letters, extents_by_letter const& e) {
  global_tensor<T> g{letters, e, {}};
  auto const count = static_cast<std::uint64_t>(number_of_elements(letters, e));
  for (std::uint64_t i = 0; i < count; ++i)
    if constexpr (std::is_same_v<T, complex>)
      g.values.emplace_back(number_at(seed, i), number_at(seed + 1, i));
    else
      g.values.push_back(number_at(seed, i));
  return g;
}

inline bool near_in_both_parts(complex const& got, complex const& want) {
  auto const near = [](double a, double b) { return std::abs(a - b) <= 1e-6 * (1 + std::abs(b)); };
  return near(got.real(), want.real()) && near(got.imag(), want.imag());
}

/// f's slope along a step of element i.
template <class P, class F>
double slope_of_element(F const& f, test_mesh const& m, global_tensor<typename P::value_type>& g, std::size_t i,
                        typename P::value_type const& step) {
  auto const v = g.values[i];
  g.values[i] = v + step;
  double const up = ostraka::value(f(placed<P>(m, g)));
  g.values[i] = v - step;
  double const down = ostraka::value(f(placed<P>(m, g)));
  g.values[i] = v;
  return (up - down) / 2e-5;
}

template <class P, class F>
void check_by_complex_differences(test_mesh const& m, extents_by_letter const& e, std::string const& letters,
                                  F const& f) {
  using T = typename P::value_type;
  INFO(m.text());
  auto g = complex_numbers<T>(1, letters, e);
  auto const r = ostraka::value_and_grad(f)(placed<P>(m, g));
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(ostraka::value(r.value))>, double>);
  auto want = g;
  for (std::size_t i = 0; i < g.values.size(); ++i) {
    double const along = slope_of_element<P>(f, m, g, i, T(1e-5));
    if constexpr (std::is_same_v<T, complex>)
      want.values[i] = complex(along, -slope_of_element<P>(f, m, g, i, complex(0, 1e-5)));
    else
      want.values[i] = along;
  }
  CHECK(disagreements(m, r.gradient, want,
                      [](T const& a, T const& b) { return near_in_both_parts(complex(a), complex(b)); }) == 0);
}

}  // namespace ostraka::testing
