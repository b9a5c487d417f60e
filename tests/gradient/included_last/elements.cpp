// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Derivatives of templates that stand before ostraka/gradient.hpp is included (against_loops.hpp): arithmetic,
/// choices, maps and functions of elements.
// sham:

#include <doctest/doctest.h>

#include <ostraka/operations.hpp>

#include <cmath>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

// The tests differentiate Σ of the elements of each result by x[I, J].

struct cubed {
  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(T x) const {
    return x * x * x;
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION T derivative(T x) const {
    return T(3) * x * x;
  }
};

struct by_arithmetic {
  template <class A>
  auto operator()(A const& x) const {
    auto const y = os::add(os::multiply(x, x), os::scale(2.0, x));
    return os::subtract(os::divide(os::negate(y), 4.0), 1.0) * 3.0 - x / 2.0 + -x;
  }
  static double of(double x) { return (-(x * x + 2 * x) / 4 - 1) * 3 - x / 2 - x; }
  static double derivative(double x) { return -(2 * x + 2) / 4 * 3 - 1.5; }
};

struct by_choice {
  template <class A>
  auto operator()(A const& x) const {
    return os::where(os::less(x, 0.25), os::minimum(x, -0.5), os::maximum(os::cast<double>(x), 0.5)) * x;
  }
  static double of(double x) { return (x < 0.25 ? std::fmin(x, -0.5) : std::fmax(x, 0.5)) * x; }
  static double derivative(double x) {
    if (x < 0.25) return x < -0.5 ? 2 * x : -0.5;
    return x > 0.5 ? 2 * x : 0.5;
  }
};

struct by_map {
  template <class A>
  auto operator()(A const& x) const {
    return os::map(cubed{}, x);
  }
  static double of(double x) { return x * x * x; }
  static double derivative(double x) { return 3 * x * x; }
};

struct by_functions {
  template <class A>
  auto operator()(A const& x) const {
    return os::sin(x) * os::map(os::exp, x) + os::clamp(os::pow(os::square(x) + 1.0, 1.5), 0.0, 1.5) + os::floor(x);
  }
  static double power(double x) { return std::pow(x * x + 1, 1.5); }
  static double of(double x) { return std::sin(x) * std::exp(x) + std::fmin(power(x), 1.5) + std::floor(x); }
  static double derivative(double x) {
    return (std::sin(x) + std::cos(x)) * std::exp(x) + (power(x) < 1.5 ? 3 * x * std::sqrt(x * x + 1) : 0.0);
  }
};

}  // namespace

#include "gradient/included_last/against_loops.hpp"

using namespace t::loops;

TEST_CASE("arithmetic") { check(by_arithmetic{}); }
TEST_CASE("comparisons and choices") { check(by_choice{}); }
TEST_CASE("maps") { check(by_map{}); }
TEST_CASE("functions of elements") { check(by_functions{}); }
