// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Derivatives of functions of one element: first and second ones of numbers by differences, at kinks, poles and
/// infinities, and to how many digits; of tensors by differences of the plain program, and of 16 bits.
// labels: essential
// sham:

#include <doctest/doctest.h>

#include <ostraka/foresight/gradient_plan.hpp>
#include <ostraka/gradient.hpp>
#include <ostraka/operations.hpp>

#include <cmath>
#include <limits>
#include <string>

#include "gradient/by_differences.hpp"
#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

template <class F>
double by_differences(F const& f, double x) {
  double const h = 1e-4;  // of fourth order
  return (8 * (f(x + h) - f(x - h)) - (f(x + 2 * h) - f(x - 2 * h))) / (12 * h);
}

bool near(double got, double want) { return std::abs(got - want) <= 1e-8 * (1 + std::abs(want)); }

template <class F>
void check_slopes(F const& f, double from, double to) {
  INFO(std::string(F::name));
  for (double x = from; x <= to; x += 0.1) {
    INFO(x);
    CHECK(near(f.derivative(x), by_differences([&](double v) { return f(v); }, x)));
    CHECK(near(f.second_derivative(x), by_differences([&](double v) { return f.derivative(v); }, x)));
  }
}

// Compares floats with doubles, relative to their magnitude.
template <class F>
void check_digits(F const& f, float from, float to, float but_around = 1e9f) {
  INFO(std::string(F::name));
  for (float x = from; x <= to; x += 0.137f) {
    if (std::abs(x - but_around) < 0.3f) continue;  // where the derivative crosses zero
    double const want = f.derivative(static_cast<double>(x));
    INFO(x);
    CHECK(std::abs(static_cast<double>(f.derivative(x)) - want) <=
          std::abs(want) * 1e-7 * (8 + static_cast<double>(x) * static_cast<double>(x)) + 1e-44);
  }
}

template <class F>
void check_at(F const& f, double x, double first, double second) {
  INFO(std::string(F::name), " at ", x);
  CHECK(f.derivative(x) == first);
  CHECK(f.second_derivative(x) == second);
}

}  // namespace

TEST_CASE("derivatives of numbers by differences") {
  check_slopes(os::relu, 0.05, 3);
  check_slopes(os::relu, -3, -0.05);
  check_slopes(os::abs, 0.05, 3);
  check_slopes(os::abs, -3, -0.05);
  check_slopes(os::square, -3, 3);
  check_slopes(os::exp, -5, 2);
  check_slopes(os::expm1, -5, 2);
  check_slopes(os::log, 0.3, 5);
  check_slopes(os::log1p, -0.7, 5);
  check_slopes(os::erf, -4, 4);
  check_slopes(os::sqrt, 0.3, 5);
  check_slopes(os::rsqrt, 0.3, 5);
  check_slopes(os::sin, -4, 4);
  check_slopes(os::cos, -4, 4);
  check_slopes(os::tanh, -5, 5);
  check_slopes(os::sigmoid, -8, 8);
  check_slopes(os::silu, -8, 8);
  check_slopes(os::gelu, -5, 5);
  check_slopes(os::gelu_tanh, -5, 5);
  check_slopes(os::floor, 0.05, 0.9);
  check_slopes(os::ceil, 0.05, 0.9);
  check_slopes(os::round, 0.05, 0.4);
}

TEST_CASE("far from zero they have all their digits") {
  check_digits(os::tanh, -40, 40);
  check_digits(os::sigmoid, -80, 80);
  check_digits(os::silu, -80, 40, -1.278f);
  check_digits(os::gelu, -12, 12, -0.752f);
  check_digits(os::gelu_tanh, -8, 12, -0.752f);
  check_digits(os::erf, -9, 9);
  check_digits(os::expm1, -80, 10);
  check_digits(os::rsqrt, 0.01f, 100);
  CHECK(os::tanh.derivative(20.0) == doctest::Approx(4 * std::exp(-40.0)).epsilon(1e-14));
  CHECK(os::sigmoid.derivative(50.0) == doctest::Approx(std::exp(-50.0)).epsilon(1e-14));
  CHECK(os::expm1.derivative(-50.0) == doctest::Approx(std::exp(-50.0)).epsilon(1e-14));
}

TEST_CASE("at kinks, poles and infinities") {
  check_at(os::relu, 0, 0, 0);
  check_at(os::abs, 0, 0, 0);
  check_at(os::sqrt, 0, infinity, -infinity);
  check_at(os::rsqrt, 0, -infinity, infinity);
  check_at(os::log, 0, infinity, -infinity);
  check_at(os::log1p, -1, infinity, -infinity);
  check_at(os::tanh, 0, 1, 0);
  check_at(os::sigmoid, 0, 0.25, 0);
  check_at(os::silu, 0, 0.5, 0.5);
  check_at(os::gelu, 0, 0.5, 2 * 0.39894228040143267794);
  check_at(os::gelu_tanh, 0, 0.5, 0.25 * 2 * 1.5957691216057307117);
  for (double const x : {infinity, -infinity}) {
    double const one = x > 0 ? 1 : 0;
    check_at(os::relu, x, one, 0);
    check_at(os::abs, x, x > 0 ? 1 : -1, 0);
    check_at(os::exp, x, x > 0 ? infinity : 0, x > 0 ? infinity : 0);
    check_at(os::erf, x, 0, 0);
    check_at(os::tanh, x, 0, 0);
    check_at(os::sigmoid, x, 0, 0);
    check_at(os::silu, x, one, 0);
    check_at(os::gelu, x, one, 0);
    check_at(os::gelu_tanh, x, one, 0);
  }
  check_at(os::log, infinity, 0, 0);
  check_at(os::sqrt, infinity, 0, 0);
  double const nan = std::numeric_limits<double>::quiet_NaN();
  for (double const d : {os::abs.derivative(nan), os::exp.derivative(nan), os::tanh.derivative(nan),
                         os::sigmoid.derivative(nan), os::silu.derivative(nan), os::gelu.derivative(nan),
                         os::gelu_tanh.derivative(nan), os::erf.second_derivative(nan), os::sqrt.derivative(nan)})
    CHECK(std::isnan(d));
}

TEST_CASE("powers") {
  os::operation::pow const f;
  for (double x = 0.2; x < 3; x += 0.4)
    for (double y = -2.5; y < 3.1; y += 0.5) {
      INFO(x, " ", y);
      auto const of_x = [&](auto const& g) { return by_differences([&](double v) { return g(v, y); }, x); };
      auto const of_y = [&](auto const& g) { return by_differences([&](double v) { return g(x, v); }, y); };
      auto const by_x = [&](double a, double b) { return f.derivative<0>(a, b); };
      auto const by_y = [&](double a, double b) { return f.derivative<1>(a, b); };
      double const scale = 1 + std::pow(x, y - 2) * 10;
      auto const close = [&](double got, double want) { return std::abs(got - want) <= 1e-7 * scale; };
      CHECK(close(f.derivative<0>(x, y), of_x(f)));
      CHECK(close(f.derivative<1>(x, y), of_y(f)));
      CHECK(close((f.second_derivative<0, 0>(x, y)), of_x(by_x)));
      CHECK(close((f.second_derivative<0, 1>(x, y)), of_y(by_x)));
      CHECK(close((f.second_derivative<1, 0>(x, y)), of_x(by_y)));
      CHECK(close((f.second_derivative<1, 1>(x, y)), of_y(by_y)));
    }
  CHECK(f.derivative<0>(0.0, 0.0) == 0);
  CHECK(f.derivative<0>(0.0, 1.0) == 1);
  CHECK(f.derivative<0>(0.0, 2.0) == 0);
  CHECK(f.derivative<0>(-2.0, 3.0) == 12);
  CHECK(f.derivative<1>(0.0, 2.0) == 0);
  CHECK((f.second_derivative<0, 0>(0.0, 1.0)) == 0);
  CHECK((f.second_derivative<0, 0>(0.0, 2.0)) == 2);
}

namespace {

// Each function once, with arguments for which it is defined.
struct all_functions {
  template <class T>
  constexpr auto operator()(T const& p) const {
    auto const positive = os::add(os::square(p), 0.5);
    auto const smooth = os::exp(os::scale(p, 0.3)) + os::expm1(os::scale(p, 0.2)) + os::erf(p) + os::sin(p) +
                        os::cos(p) + os::tanh(p) + os::sigmoid(p) + os::silu(p) + os::gelu(p) + os::gelu_tanh(p);
    auto const roots = os::log(positive) + os::log1p(positive) + os::sqrt(positive) + os::rsqrt(positive);
    auto const kinks = os::relu(p) + os::abs(p) + os::clamp(p, -0.7, 1.5) + os::floor(p) * p;
    return smooth * roots + kinks + os::pow(positive, 1.5) + os::pow(1.5, p) + os::pow(positive, p);
  }
};

// Forward and backward move nothing but the sum at the end.
constexpr auto plan = os::gradient_plan<os::tensor<double, I/X, J/Y>>(
    [](auto const& p) { return os::sum<>(all_functions{}(p)); });
static_assert(plan.unpriced() == 0);
static_assert(plan.count(os::step::all_reduce) == 1);
static_assert(plan.backward.total_bytes(I = 8, J = 8, X = 2, Y = 2) == 0);

}  // namespace

TEST_CASE("of tensors, on all meshes") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'I', 3}, {'J', 2}};
    INFO(m.text());
    t::check_by_differences<os::tensor<double, I/X, J/Y>>(
        m, e, "IJ", [&](auto const& p) { return os::mean<>(all_functions{}(p)); });
  });
}

TEST_CASE("os::map by them; constants beside variables; what is constant is no variable") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'I', 3}, {'J', 2}};
    INFO(m.text());
    auto const row = t::placed<os::tensor<double, J/Y>>(m, t::whole_numbers<double>("J", e, 2));
    auto const f = [&](auto const& p) {
      auto const whole = os::where(os::isfinite(p), os::round(os::scale(p, 7)), 0.0);
      static_assert(os::Tensor<std::remove_const_t<decltype(whole)>>);
      static_assert(os::Tensor<std::remove_const_t<decltype(os::map(os::isnan, p))>>);
      auto const powers = os::map(os::pow, os::map(os::exp, p), row) + os::pow(os::square(row) + 0.5, p);
      return os::sum<>(powers * os::map(os::gelu, p) * whole);
    };
    t::check_by_differences<os::tensor<double, I/X, J>>(m, e, "IJ", f);
  });
}

TEST_CASE("of 16 bits: in floats, rounded once") {
  using T = os::bfloat16;
  t::on_every_mesh([](t::test_mesh const& m) {
    INFO(m.text());
    t::extents_by_letter const e{{'I', 5}};
    t::global_tensor<T> x = t::whole_numbers<T>("I", e, 2), weigh = t::whole_numbers<T>("I", e, 3), want = x;
    for (std::size_t i = 0; i < x.values.size(); ++i) {
      x.values[i] = T(0.37f * static_cast<float>(x.values[i]) + 0.1f);
      weigh.values[i] = T(1.3f * static_cast<float>(weigh.values[i]) + 0.1f);
      want.values[i] = T(static_cast<float>(weigh.values[i]) * os::gelu.derivative(static_cast<float>(x.values[i])));
    }
    auto const w = t::placed<os::tensor<T, I/X>>(m, weigh);
    auto const r = os::value_and_grad([&](auto const& p) { return os::sum<>(os::multiply(os::gelu(p), w)); })(
        t::placed<os::tensor<T, I/X>>(m, x));
    CHECK(t::disagreements(m, r.gradient, want) == 0);
  });
}

TEST_CASE("the gradient of a gradient") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'I', 3}, {'J', 2}};
    INFO(m.text());
    auto const first = os::value_and_grad([](auto const& p) { return os::sum<>(all_functions{}(p)); });
    t::check_by_differences<os::tensor<double, I/X, J/Y>>(m, e, "IJ", [&](auto const& p) {
      auto const g = first(p).gradient;
      return os::mean<>(g * g);
    });
  });
}
