// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Derivatives of Fourier transforms by differences of the plain program: each transform, even and odd lengths, whole
/// and divided axes, transposed results; gradients of gradients; the figures of plans.
// sham:

#include <doctest/doctest.h>

#include <ostraka/fft.hpp>
#include <ostraka/foresight/gradient_plan.hpp>
#include <ostraka/gradient.hpp>
#include <ostraka/operations.hpp>

#include "gradient/by_differences.hpp"
#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

using complex = Kokkos::complex<double>;

/// A sum of complex numbers with different weights.
template <class Y, class W>
auto weighed(Y const& y, W const& w) {
  auto const z = os::multiply(os::multiply(y, w), y);
  return os::add(os::sum<>(os::real(z)), os::sum<>(os::scale(os::imag(z), 0.7)));
}

/// 1 + i k/7 and the like, of the sharding and extents of a result.
template <class T>
T weights(t::test_mesh const& m, std::string const& letters, t::extents_by_letter const& e) {
  auto g = t::whole_numbers<complex>(letters, e, 11);
  for (complex& v : g.values) v = complex(0.2 * v.real() + 0.1, 0.15 * v.imag() - 0.3);
  return t::placed<T>(m, g);
}

template <class F>
void for_lengths(F const& f) {
  t::on_every_mesh([&](t::test_mesh const& m) {
    for (std::int64_t const n : {1, 2, 5, 6}) {
      INFO(m.text(), n);
      f(m, t::extents_by_letter{{'I', n}, {'J', 3}, {'K', n}}, t::extents_by_letter{{'K', n / 2 + 1}, {'J', 3}});
    }
  });
}

}  // namespace

TEST_CASE("rfft, and of real numbers fft") {
  for_lengths([](t::test_mesh const& m, t::extents_by_letter const& e, t::extents_by_letter const& half) {
    auto const w = weights<os::tensor<complex, K, J/X>>(m, "KJ", half);
    t::check_by_differences<os::tensor<double, I, J/X>>(m, e, "IJ",
                                                          [&](auto const& p) { return weighed(os::rfft<I, K>(p), w); });
    t::check_by_differences<os::tensor<double, I/X, J>>(
        m, e, "IJ", [&](auto const& p) { return weighed(os::rfft<I/X, K, J/X>(p), w); });
    auto const turned = weights<os::tensor<complex, J/X, K>>(m, "JK", half);
    t::check_by_differences<os::tensor<double, I/X, J>>(
        m, e, "IJ", [&](auto const& p) { return weighed(os::rfft<I/X, J/X, K>(p), turned); });
    auto const whole = weights<os::tensor<complex, K/X, J>>(m, "KJ", e);
    t::check_by_differences<os::tensor<double, I/X, J>>(
        m, e, "IJ", [&](auto const& p) { return weighed(os::fft<I/X, K/X>(p), whole); });
  });
}

TEST_CASE("complex transforms there and back, and irfft") {
  for_lengths([](t::test_mesh const& m, t::extents_by_letter const& e, t::extents_by_letter const& half) {
    auto const turn = weights<os::tensor<complex, I/X, J>>(m, "IJ", e);
    auto const filter = weights<os::tensor<complex, K, J/X>>(m, "KJ", e);
    t::check_by_differences<os::tensor<double, I/X, J>>(m, e, "IJ", [&](auto const& p) {
      auto const z = os::multiply(os::cast<complex>(p), turn);
      auto const spectrum = os::multiply(os::fft<I/X, K, J/X>(z), filter);
      return weighed(os::ifft<K, I/X, J>(spectrum), turn);
    });
    auto const small = weights<os::tensor<complex, K/X, J>>(m, "KJ", half);
    std::int64_t const n = e.at('I');
    t::check_by_differences<os::tensor<double, I/X, J>>(m, e, "IJ", [&](auto const& p) {
      auto const spectrum = os::multiply(os::rfft<I/X, K/X>(p), small);
      auto const u = os::irfft<K/X, I, J/X>(spectrum, I = n);
      return os::sum<>(os::multiply(os::multiply(u, u), u));
    });
  });
}

TEST_CASE("several axes at once, in the order of the tensor and in another") {
  for_lengths([](t::test_mesh const& m, t::extents_by_letter const& e, t::extents_by_letter const&) {
    std::int64_t const i = e.at('I'), j = e.at('J');
    auto const w = weights<os::tensor<complex, K, L/X>>(m, "KL", {{'K', i}, {'L', j / 2 + 1}});
    t::check_by_differences<os::tensor<double, I/X, J>>(m, e, "IJ", [&](auto const& p) {
      return weighed(os::rfft<os::dims<I/X, J>, K, L/X>(p), w);
    });
    t::check_by_differences<os::tensor<double, I/X, J>>(m, e, "IJ", [&](auto const& p) {
      auto const s = os::multiply(os::rfft<os::dims<I/X, J>, K, L/X>(p), w);
      auto const u = os::irfft<os::dims<K, L/X>, I/X, J>(s, J = j);
      return os::sum<>(os::multiply(os::multiply(u, u), u));
    });
    auto const turned = weights<os::tensor<complex, L/X, K>>(m, "LK", {{'K', i / 2 + 1}, {'L', j}});
    t::check_by_differences<os::tensor<double, I/X, J>>(m, e, "IJ", [&](auto const& p) {
      return weighed(os::rfft<os::dims<J, I/X>, L/X, K>(p), turned);
    });
    auto const whole = weights<os::tensor<complex, K, L/X>>(m, "KL", {{'K', i}, {'L', j}});
    t::check_by_differences<os::tensor<double, I/X, J>>(m, e, "IJ", [&](auto const& p) {
      return weighed(os::ifft<os::dims<I/X, J>, K, L/X>(os::cast<complex>(p)), whole);
    });
  });
}

TEST_CASE("gradients of gradients: transposes of transposes") {
  for_lengths([](t::test_mesh const& m, t::extents_by_letter const& e, t::extents_by_letter const& half) {
    auto const small = weights<os::tensor<complex, K, J/X>>(m, "KJ", half);
    std::int64_t const n = e.at('I');
    auto const inner = [&](auto const& p) {
      auto const u = os::irfft<K, I>(os::multiply(os::rfft<I, K>(p), small), I = n);
      return os::sum<>(os::multiply(os::multiply(u, u), u));
    };
    t::check_by_differences<os::tensor<double, I, J/X>>(m, e, "IJ", [&](auto const& p) {
      auto const g = os::value_and_grad(inner)(p).gradient;
      return os::sum<>(os::multiply(g, g));
    });
  });
}

TEST_CASE("in bodies, and parts of a sum") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'I', 5}, {'J', 4}};
    t::check_by_differences<os::tensor<double, I, J/X>>(m, e, "IJ", [&](auto const& p) {
      auto const y = os::shard_map<I, J/X>(
          [](auto const& block) { return os::irfft<K, I>(os::rfft<I, K>(os::multiply(block, block)), I = 5); }, p);
      return os::sum<>(os::multiply(y, y));
    });
  });
}

TEST_CASE("a plan of the loss prices what moves") {
  constexpr auto loss = [](auto const& p) {
    auto const s = os::rfft<I/X, K, J/X>(p);
    return os::sum<>(os::multiply(os::real(s), os::real(s)));
  };
  constexpr auto plan = os::gradient_plan<os::tensor<double, I/X, J>>(loss);
  static_assert(plan.unpriced() == 0);
  t::on_every_mesh([&](t::test_mesh const& m) {
    t::extents_by_letter const e{{'I', 6}, {'J', 5}};
    auto const p = t::placed<os::tensor<double, I/X, J>>(m, t::whole_numbers<double>("IJ", e, 2));
    std::int64_t const moved = t::traffic_of([&] { static_cast<void>(os::value_and_grad(loss)(p)); }).bytes;
    CHECK(plan.total_bytes(I = 6, J = 5, K = 4, X = m.size("X"), Y = m.size("Y"), Z = m.size("Z")) == moved);
  });
}
