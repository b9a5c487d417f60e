// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The gradient of a program by differences of its values, element by element.

#include <doctest/doctest.h>

#include <ostraka/gradient.hpp>

#include <cmath>
#include <cstddef>
#include <string>

#include "support/on_meshes.hpp"

namespace ostraka::testing {

// One element of the gradient by differences of f, on every mesh: f(p) as the plain program computes it.
template <class P, class F>
global_tensor<double> slopes(F const& f, test_mesh const& m, global_tensor<double> g) {
  global_tensor<double> slope = g;
  double const step = 1e-5;
  for (std::size_t i = 0; i < g.values.size(); ++i) {
    double const v = g.values[i];
    g.values[i] = v + step;
    double const up = ostraka::value(f(placed<P>(m, g)));
    g.values[i] = v - step;
    double const down = ostraka::value(f(placed<P>(m, g)));
    g.values[i] = v;
    slope.values[i] = (up - down) / (2 * step);
  }
  return slope;
}

template <class P, class F>
void check_by_differences(test_mesh const& m, extents_by_letter const& e, std::string const& letters, F const& f) {
  global_tensor<double> g = whole_numbers<double>(letters, e, 9);
  for (double& v : g.values) v = 0.3 * v + 0.05;
  auto const p = placed<P>(m, g);
  auto const r = ostraka::value_and_grad(f)(p);
  double const v = ostraka::value(f(p));
  CHECK(std::abs(ostraka::value(r.value) - v) <= 1e-12 * (1 + std::abs(v)));
  CHECK(disagreements(m, r.gradient, slopes<P>(f, m, g), [](double got, double want) {
          return std::abs(got - want) <= 1e-6 * (1 + std::abs(want));
        }) == 0);
}

/// Σ y² of the result y of a body, whose cotangent differs from element to element, of a tensor divided over X and Y.
template <auto... Out, class Body>
void check_body(test_mesh const& m, extents_by_letter const& e, Body const& body) {
  check_by_differences<ostraka::tensor<double, I/X, J/Y>>(m, e, "IJ", [&](auto const& p) {
    auto const y = ostraka::shard_map<Out...>(body, p);
    return ostraka::sum<>(ostraka::multiply(y, y));
  });
}

}  // namespace ostraka::testing
