// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Gradients with respect to complex numbers, ∂u/∂x − i ∂u/∂y, on every mesh: compared with those of JAX
/// (oracle/make_complex.py), and by differences of the plain program in both parts, of functions that are holomorphic
/// and of those that are not, of products, reductions, moves, collectives, and of conversions between real and complex
/// numbers.
// sham:

#include <doctest/doctest.h>

#include <ostraka/gradient.hpp>
#include <ostraka/operations.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "gradient/cotangents/complex_numbers.hpp"
#include "gradient/oracle/complex_gradients.hpp"
#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

using t::complex;

namespace {

t::extents_by_letter const extents{{'I', 3}, {'J', 4}, {'K', 2}};

// A program of oracle/make_complex.py under the sharding of P.
template <class P, class F>
void check_with_jax(t::test_mesh const& m, std::string_view name, F const& f) {
  INFO(std::string(name), m.text());
  auto const r = os::value_and_grad(f)(t::placed<P>(m, t::complex_numbers<complex>(1, "IJ", extents)));
  bool is_found = false;
  for (oracle::complex_answer const& answer : oracle::complex_answers) {
    if (name != answer.name) continue;
    is_found = true;
    auto const close = [](double got, double want) { return std::abs(got - want) <= 1e-11 * (1 + std::abs(want)); };
    CHECK(close(os::value(r.value), answer.value));
    t::global_tensor<complex> want{"IJ", extents, {}};
    for (int i = 0; i < 12; ++i) want.values.emplace_back(answer.gradient[2 * i], answer.gradient[2 * i + 1]);
    CHECK(t::disagreements(m, r.gradient, want, [&](complex const& a, complex const& b) {
            return close(a.real(), b.real()) && close(a.imag(), b.imag());
          }) == 0);
  }
  CHECK(is_found);
}

// Compared with JAX, and by differences.
template <class P, class F>
void check(t::test_mesh const& m, std::string_view name, F const& f) {
  check_with_jax<P>(m, name, f);
  t::check_by_complex_differences<P>(m, extents, "IJ", f);
}

template <auto... Dims>
auto constant(t::test_mesh const& m, std::uint64_t seed) {
  using tensor = os::tensor<complex, Dims...>;
  return t::placed<tensor>(m, t::complex_numbers<complex>(seed, t::letters_in<tensor>(), extents));
}

template <class Y>
auto squares(Y const& y) {
  return os::sum<>(os::real(y * os::conj(y)));
}

// Each function once.
struct functions {
  template <class T>
  auto operator()(T const& p) const {
    auto const h = os::exp(os::scale(p, complex(0.3, 0.1))) + os::sin(p) * os::cos(p) + os::tanh(p) +
                   os::log(p + complex(4, 3)) + os::sqrt(p + complex(5, 2)) + os::square(p) / (p + complex(0, 6)) -
                   os::map(os::exp, -p);
    auto const part = os::abs(p) * os::imag(os::conj(h) * p) + os::real(h) - os::abs(h);
    return os::real(h * os::cast<complex>(part));
  }
};

}  // namespace

TEST_CASE("functions of one element") {
  t::on_every_mesh([](t::test_mesh const& m) {
    auto const f = [](auto const& p) { return os::mean<>(functions{}(p)); };
    check<os::tensor<complex, I/X, J/Y>>(m, "functions", f);
    check_with_jax<os::tensor<complex, I, J/X/Y>>(m, "functions", f);
  });
}

TEST_CASE("products and moves") {
  t::on_every_mesh([](t::test_mesh const& m) {
    auto const w = constant<I/X, J/Y>(m, 3);
    auto const b = constant<J, K/Y>(m, 5);
    auto const product = [&](auto const& p) {
      auto const whole = os::reshard<I/X, J>(p);
      return squares(os::einsum<I/X, K/Y>(whole, b)) + os::real(os::sum<>(os::reshard<I/X, J/Y>(p) * w)) -
             os::imag(os::mean<>(p));
    };
    check<os::tensor<complex, I/X, J/Y>>(m, "product", product);
    check_with_jax<os::tensor<complex, I, J/X>>(m, "product", product);
    check_with_jax<os::tensor<complex, I/X/Y, J>>(m, "product", product);
    check<os::tensor<complex, I, J/Y>>(m, "gram", [](auto const& p) {
      auto const left = os::rename<I, K>(p);
      auto const with_conjugate = os::einsum<I, K, os::partial(Y)>(p, os::conj(left));  // summands are kept
      return os::real(os::sum<>(os::scale(with_conjugate, complex(1, 2)))) + squares(os::einsum<I/X, K>(p, left));
    });
  });
}

TEST_CASE("reductions and scans") {
  t::on_every_mesh([](t::test_mesh const& m) {
    auto const norms = [](auto const& p) {
      auto const n = os::norm<I/X>(p);
      return os::sum<>(n * n * n) + os::sum<>(os::variance<I/X>(p)) +
             os::sum<>(os::standard_deviation<J>(p, os::ddof(1)));
    };
    check<os::tensor<complex, I/X, J/Y>>(m, "norms", norms);
    check_with_jax<os::tensor<complex, I/Y, J/X>>(m, "norms", norms);
    check<os::tensor<complex, I/X, J/Y>>(m, "products", [](auto const& p) {
      return squares(os::prod<I/X>(p)) + squares(os::cumsum<J/Y>(p) * os::cumprod<I/X>(p));
    });
  });
}

TEST_CASE("shapes and indices") {
  t::on_every_mesh([](t::test_mesh const& m) {
    auto const w = constant<I/X, J/Y>(m, 3);
    auto const index = t::placed<os::tensor<int, J>>(m, t::global_tensor<int>{"J", extents, {2, 0, 2, 1}});
    check<os::tensor<complex, I/X, J/Y>>(m, "shapes", [&](auto const& p) {
      auto const rolled = os::roll<J/Y>(p, 1) * w;
      auto const padded = os::pad<J/Y>(os::window<J/Y>(rolled, 1, 3), 1, 1);
      auto const seen = os::where(os::real(w) > 0.0, p * p, complex(0, 1));
      auto const whole = os::reshard<I, J>(p);
      auto const taken = os::rename<J, L>(os::take<I>(os::rename<J, K>(whole), index));  // [L, K]
      auto const twice = os::rename<I, L>(os::window<I>(os::concatenate<I>(whole, whole), 0, 4));
      return squares(padded + seen) + squares(os::einsum<K, J>(taken, twice));
    });
  });
}

TEST_CASE("between real and complex numbers") {
  t::on_every_mesh([](t::test_mesh const& m) {
    auto const w = constant<I/X, J/Y>(m, 3);
    auto const sum = constant<J, K>(m, 5);
    check<os::tensor<complex, I/X, J/Y>>(m, "from real", [&](auto const& p) {
      auto const turned = os::exp(os::scale(os::cast<complex>(os::real(p)), complex(0, 1)));
      return squares(turned * os::reshard<>(os::sum<>(sum)) + os::cast<complex>(os::imag(p)) * w);
    });
    // a real parameter gets a real gradient, also where complex numbers are gathered
    t::check_by_complex_differences<os::tensor<double, I/X, J/Y>>(m, extents, "IJ", [&](auto const& p) {
      static_assert(std::is_same_v<decltype(os::imag(p)), os::tensor<double, I/X, J/Y>> ||
                    !os::is_variable<decltype(p)>);
      auto const z = os::exp(os::scale(os::cast<complex>(os::reshard<I/X, J>(p)), complex(0.2, 1)));
      return os::real(os::sum<>(z * z)) + os::sum<>(os::real(os::conj(p)));
    });
  });
}
