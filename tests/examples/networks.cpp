// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The sequential program of examples/networks, the reference of the programs there, equals JAX's: the parameters, the
/// gradient of every layer, and the losses of five steps. networks_oracle.py prints the constants.
// labels: ci

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <vector>

#include "../../examples/networks/sequential.hpp"

namespace {

using sequential::matrix;

struct of_layer {
  double weights, biases;
};

constexpr of_layer sums[] = {{-5.258681289294827, 7.24915321264416},   {-13.117976371935583, 23.784382473211735},
                             {-10.988150113481424, 10.921141220256686}, {7.4319587810998655, -2.7703492720611393},
                             {5.93022039897005, -5.70293701038463},     {4.77994418747403, 3.6815868644043803}};
constexpr of_layer norms[] = {{8.834627465286959, 0.9577979911428453}, {14.724954012469706, 1.500615772384525},
                              {23.450470488118754, 2.085316632479256}, {35.71361531693106, 3.1902253447978834},
                              {42.321389897786084, 4.530482109177849}, {72.08831690307997, 7.6004844908137645}};
constexpr double losses[] = {22.779885961150214, 9.20957730061674,  8.120723390902096,
                             7.856919248514275,  7.707493429543863, 7.581068582754555};

double sum(matrix const& m) {
  double total = 0;
  for (double const v : m) total += v;
  return total;
}

double norm(matrix const& m) {
  double squares = 0;
  for (double const v : m) squares += v * v;
  return std::sqrt(squares);
}

// Some of the parameters differ by the last bit of a float.
bool close(double found, double expected) { return std::abs(found - expected) < 2e-7 * (1 + std::abs(expected)); }

TEST_CASE("the sequential program is JAX's") {
  auto layers = sequential::initial_layers();
  for (std::size_t l = 0; l < layers.size(); ++l) {
    CHECK(std::abs(sum(layers[l].W) - sums[l].weights) < 1e-4);  // of up to 100,352 numbers
    CHECK(close(sum(layers[l].b), sums[l].biases));
  }
  std::vector<sequential::layer> gradient;
  for (double const expected : losses) {
    CHECK(close(sequential::loss(layers, gradient), expected));
    if (expected == losses[0])
      for (std::size_t l = 0; l < layers.size(); ++l) {
        CHECK(close(norm(gradient[l].W), norms[l].weights));
        CHECK(close(norm(gradient[l].b), norms[l].biases));
      }
    sequential::descend(layers, gradient, 3e-3);
  }
}

}  // namespace
