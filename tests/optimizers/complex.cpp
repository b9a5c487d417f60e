// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Optimisers of complex parameters against plain loops: steps go against the conjugate of the gradient, and Adam's
/// second moment is that of |g|².
// ranks: 1 4
// sham:

#include <doctest/doctest.h>

#include <ostraka/gradient.hpp>
#include <ostraka/operations.hpp>
#include <ostraka/optimizers.hpp>

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

using complex = Kokkos::complex<double>;
using number = std::complex<double>;

t::extents_by_letter const extents{{'I', 9}, {'J', 30}};  // runs of neighbours, and a remainder

t::global_tensor<complex> numbers(std::uint64_t salt) {
  auto const x = t::whole_numbers<double>("IJ", extents, salt), y = t::whole_numbers<double>("IJ", extents, salt + 50);
  t::global_tensor<complex> g{"IJ", extents, {}};
  for (std::size_t i = 0; i < x.values.size(); ++i) g.values.emplace_back(0.173 * x.values[i], 0.119 * y.values[i]);
  return g;
}

// Four steps of an optimiser, and of its formula: loop(p, conjugate of the gradient, m, v, step).
template <class Optimizer, class Loop>
void train(t::test_mesh const& m, Optimizer const& optimizer, Loop const& loop) {
  using parameter = os::tensor<complex, I/X, J>;
  auto want = numbers(3);
  auto const p = t::placed<parameter>(m, want);
  auto const state = optimizer.init(p);
  std::vector<number> moment(want.values.size());
  std::vector<double> square(want.values.size());
  for (int step = 1; step <= 4; ++step) {
    auto const g = numbers(static_cast<std::uint64_t>(step) + 10);
    optimizer.update(p, t::placed<parameter>(m, g), state);
    for (std::size_t i = 0; i < g.values.size(); ++i) {
      number at(want.values[i].real(), want.values[i].imag());
      loop(at, number(g.values[i].real(), -g.values[i].imag()), moment[i], square[i], step);
      want.values[i] = complex(at.real(), at.imag());
    }
  }
  INFO(m.text());
  CHECK(t::disagreements(m, p, want, [](complex const& a, complex const& b) {
          return std::abs(a.real() - b.real()) <= 1e-13 * (1 + std::abs(b.real())) &&
                 std::abs(a.imag() - b.imag()) <= 1e-13 * (1 + std::abs(b.imag()));
        }) == 0);
}

void adam(number& p, number const& g, number& m, double& v, int step, double decay) {
  m = 0.9 * m + 0.1 * g;
  v = 0.99 * v + 0.01 * std::norm(g);
  p -= 0.02 * (m / (1 - std::pow(0.9, step)) / (std::sqrt(v / (1 - std::pow(0.99, step))) + 1e-3) + decay * p);
}

}  // namespace

TEST_CASE("every optimiser") {
  t::on_every_mesh([](t::test_mesh const& m) {
    train(m, os::sgd{.learning_rate = 0.1, .weight_decay = 0.2},
          [](number& p, number const& g, number&, double&, int) { p -= 0.1 * (g + 0.2 * p); });
    for (bool const nesterov : {false, true})
      train(m, os::momentum{.learning_rate = 0.05, .beta = 0.8, .nesterov = nesterov, .weight_decay = 0.1},
            [&](number& p, number const& g, number& moment, double&, int) {
              number const slope = g + 0.1 * p;
              moment = 0.8 * moment + slope;
              p -= 0.05 * (nesterov ? slope + 0.8 * moment : moment);
            });
    train(m, os::adam{.learning_rate = 0.02, .beta2 = 0.99, .epsilon = 1e-3},
          [](number& p, number const& g, number& moment, double& v, int k) { adam(p, g, moment, v, k, 0); });
    train(m, os::adamw{.learning_rate = 0.02, .beta2 = 0.99, .epsilon = 1e-3, .weight_decay = 0.3},
          [](number& p, number const& g, number& moment, double& v, int k) { adam(p, g, moment, v, k, 0.3); });
  });
}

TEST_CASE("a step against the gradient of a distance ends where it is 0") {
  t::on_every_mesh([](t::test_mesh const& m) {
    using parameter = os::tensor<complex, I/X, J>;
    auto const goal = numbers(7);
    auto const c = t::placed<parameter>(m, goal);
    auto const p = t::placed<parameter>(m, numbers(1));
    os::sgd const optimizer{.learning_rate = 0.5};
    auto const r = os::value_and_grad([&](auto const& z) { return os::sum<>(os::square(os::abs(z - c))); })(p);
    optimizer.update(p, r.gradient, optimizer.init(p));
    CHECK(t::disagreements(m, p, goal, [](complex const& a, complex const& b) {
            return std::abs(a.real() - b.real()) + std::abs(a.imag() - b.imag()) <= 1e-14;
          }) == 0);
    double const norm = os::clip_by_global_norm(r.gradient, 0.5);
    CHECK((m.handle()->absent() || std::abs(os::global_norm(r.gradient) - std::min(norm, 0.5)) <= 1e-12));
  });
}
