// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Programs whose parameters are complex: bodies and their collectives, gradients of gradients, functions of the
/// program's own, trees with real leaves and complex ones, deferred reductions, regions, casts, and plans.
// sham:

#include <doctest/doctest.h>

#include <ostraka/foresight/gradient_plan.hpp>
#include <ostraka/gradient.hpp>
#include <ostraka/operations.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "gradient/cotangents/complex_numbers.hpp"
#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

using t::complex;

namespace {

template <class Y>
constexpr auto squares(Y const& y) {
  return os::sum<>(os::real(y * os::conj(y)));
}

template <class F>
void check(t::test_mesh const& m, t::extents_by_letter const& e, F const& f) {
  t::check_by_complex_differences<os::tensor<complex, I/X, J/Y>>(m, e, "IJ", f);
}

template <auto... Out, class Body>
void check_body(t::test_mesh const& m, t::extents_by_letter const& e, Body const& body) {
  check(m, e, [&](auto const& p) { return squares(os::shard_map<Out...>(body, p)); });
}

}  // namespace

TEST_CASE("collectives of bodies") {
  t::on_every_mesh([](t::test_mesh const& m) {
    std::int64_t const n = m.size("X"), k = m.size("Y");
    t::extents_by_letter const e{{'I', 2 * n}, {'J', k}};
    check_body<I, J/Y>(m, e, [](auto a) { return os::all_gather<I/X>(os::multiply(a, a)); });
    check_body<I/X, J/Y>(m, e, [](auto a) {
      return os::einsum<I, J>(a, os::rename<I, K>(os::all_gather<I/X>(os::conj(a))), os::sum_over(K));
    });
    check_body<I/X, J/Y>(m, e, [](auto a) { return os::multiply(os::psum<X>(a), os::exp(a)); });
    check_body<I, J>(m, e, [](auto a) { return os::pmean<Y, X>(os::multiply(a, a)); });
    check_body<I, J>(m, e, [](auto a) { return os::pprod<X, Y>(os::add(a, complex(0.25, 1))); });
    check_body<I/X, J/Y>(m, e, [](auto a) { return os::multiply(os::shift<X>(a, 1), a); });
    check_body<J/Y>(m, e, [](auto a) { return os::psum<X>(os::sum<J>(os::abs(a) * os::real(a))); });
  });
}

TEST_CASE("gradients of gradients") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'I', 3}, {'J', 2}};
    auto const loss = [](auto const& p) {
      auto const h = os::sin(p) * os::exp(os::scale(p, complex(0.3, 0.1))) + os::tanh(p) + os::log(p + complex(3, 2)) +
                     os::sqrt(p + complex(4, 1)) + os::square(os::cos(p)) / (p + complex(0, 4));
      return os::sum<>(os::abs(h) * os::imag(p * os::conj(h))) + os::sum<>(os::norm<I/X>(h)) +
             os::sum<>(os::variance<J/Y>(p * p));
    };
    check(m, e, [&](auto const& p) {
      auto const g = os::value_and_grad(loss)(p).gradient;
      return squares(g) + os::sum<>(os::real(g * os::square(p)));
    });
  });
}

namespace {

// |z|², which has ∂/∂x − i ∂/∂y = 2 conj(z).
struct square_of_modulus {
  template <class R>
  KOKKOS_INLINE_FUNCTION R operator()(Kokkos::complex<R> const& z) const {
    return z.real() * z.real() + z.imag() * z.imag();
  }
  template <class R>
  KOKKOS_INLINE_FUNCTION Kokkos::complex<R> derivative(Kokkos::complex<R> const& z) const {
    return {2 * z.real(), -2 * z.imag()};
  }
};

// z² r, of a complex number and a real one.
struct square_times {
  template <class R>
  KOKKOS_INLINE_FUNCTION Kokkos::complex<R> operator()(Kokkos::complex<R> const& z, R const& r) const {
    return z * z * r;
  }
  template <int K, class R>
  KOKKOS_INLINE_FUNCTION Kokkos::complex<R> derivative(Kokkos::complex<R> const& z, R const& r) const {
    return K == 0 ? R(2) * r * z : z * z;
  }
};

}  // namespace

TEST_CASE("functions of the program's own, and derivatives") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'I', 3}, {'J', 2}};
    // z |z|, whose derivative along dz is |z| dz + z Re(conj(z) dz) / |z|
    auto const stretched = os::custom_vjp([](auto const& z) { return z * os::cast<complex>(os::abs(z)); },
                                          [](auto const& g, auto const&, auto const& z) {
                                            return g * os::cast<complex>(os::abs(z)) +
                                                   os::cast<complex>(os::real(g * z) / os::abs(z)) * os::conj(z);
                                          });
    check(m, e, [&](auto const& p) {
      auto const rows = os::map(square_times{}, p, os::sum<I/X>(os::map(square_of_modulus{}, p)));
      return squares(rows) + os::imag(os::sum<>(stretched(p) * p));
    });
  });
}

namespace {

template <class L>
struct mixed {
  os::leaf<L, complex, I/X, J> z;
  os::leaf<L, double, J> r;
};

}  // namespace

TEST_CASE("trees, regions and deferred reductions") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'I', 3}, {'J', 4}};
    auto const z = t::complex_numbers<complex>(1, "IJ", e);
    auto const r = t::complex_numbers<double>(1, "J", e);
    mixed<os::values> const p{t::placed<os::tensor<complex, I/X, J>>(m, z), t::placed<os::tensor<double, J>>(m, r)};
    // Σ |z exp(i r)² + r|², in a region
    auto const loss = [](auto const& q) {
      auto const y = os::checkpoint([](auto const& a, auto const& b) {
        auto const turned = a * os::exp(os::scale(os::cast<complex>(b), complex(0, 1)));
        return turned * turned + os::cast<complex>(b);
      })(q.z, q.r);
      return squares(y);
    };
    auto want_z = z;
    auto want_r = r;
    for (double& v : want_r.values) v = 0;
    for (std::size_t i = 0; i < z.values.size(); ++i) {
      double const angle = r.values[i % 4];
      complex const phase(std::cos(angle), std::sin(angle)), y = z.values[i] * z.values[i] * phase * phase + angle;
      complex const back(2 * y.real(), -2 * y.imag());
      want_z.values[i] = back * 2.0 * z.values[i] * phase * phase;
      want_r.values[i % 4] += (back * (complex(0, 2) * z.values[i] * z.values[i] * phase * phase + 1.0)).real();
    }
    auto const near = [](double a, double b) { return std::abs(a - b) <= 1e-12 * (1 + std::abs(b)); };
    auto const is_right = [&](auto const& g) {
      INFO(m.text());
      CHECK(t::disagreements(m, g.z, want_z, [&](complex const& a, complex const& b) {
              return near(a.real(), b.real()) && near(a.imag(), b.imag());
            }) == 0);
      CHECK(t::disagreements(m, g.r, want_r, near) == 0);
    };
    is_right(os::value_and_grad(loss)(p).gradient);
    auto const deferred = os::value_and_grad<os::deferred_over<X>>(loss)(p).gradient;
    static_assert(std::is_same_v<std::remove_cvref_t<decltype(deferred.r)>, os::tensor<double, J, os::partial(X)>>);
    is_right(deferred);
  });
}

TEST_CASE("where a modulus or a norm is 0, so are their gradients") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'I', 5}, {'J', 3}};
    t::global_tensor<complex> const zero{"IJ", e, std::vector<complex>(15)};
    auto const r = os::value_and_grad([](auto const& p) {
      return os::sum<>(os::abs(p)) + os::sum<>(os::norm<I>(os::conj(os::reshard<I, J>(p))));
    })(t::placed<os::tensor<complex, I/X, J>>(m, zero));
    INFO(m.text());
    CHECK(t::disagreements(m, r.gradient, zero) == 0);
  });
}

TEST_CASE("complex floats, and casts between them and doubles") {
  t::on_every_mesh([](t::test_mesh const& m) {
    using narrow = Kokkos::complex<float>;
    t::extents_by_letter const e{{'I', 5}};
    auto const z = t::complex_numbers<complex>(1, "I", e);
    auto want = z;
    for (complex& v : want.values) v = complex(2 * v.real(), -2 * v.imag());
    auto const r = os::value_and_grad([](auto const& p) {
      auto const y = os::reshard<I>(os::cast<narrow>(p));
      return os::sum<>(os::square(os::abs(y)));
    })(t::placed<os::tensor<complex, I/X>>(m, z));
    static_assert(std::is_same_v<std::remove_cvref_t<decltype(os::value(r.value))>, float>);
    INFO(m.text());
    CHECK(t::disagreements(m, r.gradient, want, [](complex const& a, complex const& b) {
            return std::abs(a.real() - b.real()) <= 1e-6 && std::abs(a.imag() - b.imag()) <= 1e-6;
          }) == 0);
  });
}

namespace {

struct gathered_product {
  template <class W, class A>
  constexpr auto operator()(W const& w, A const& a) const {
    auto const y = os::einsum<I/X, K>(a, os::conj(os::reshard<J, K>(w)));
    return os::sum<>(os::abs(y) * os::real(os::exp(y)));
  }
};

// A gathered weight of complex numbers, and its conjugate: one reduce-scatter, twice the bytes of real ones.
template <class T>
constexpr auto plan = os::gradient_plan<os::tensor<T, J/X, K>, os::tensor<T, I/X, J>>(gathered_product{});
static_assert(plan<complex>.unpriced() == 0);
static_assert(plan<complex>.backward.count(os::step::reduce_scatter) == 1);
static_assert(plan<complex>.backward.total_bytes(I = 8, J = 8, K = 4, X = 2) ==
              2 * plan<double>.backward.total_bytes(I = 8, J = 8, K = 4, X = 2));

}  // namespace
