// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// A network whose layers go through pipelines in tests, by plain loops: its loss and all gradients.
///
///     h ← h + tanh(h · w[l] + b[l]) · v[l]      for each layer l
///     loss = Σ_B (h · head − target)² / B

#include <cmath>
#include <cstddef>
#include <vector>

#include "support/global_tensor.hpp"

namespace ostraka::testing {

struct pipelined_network {
  extents_by_letter e;
  global_tensor<double> x, target, w, b, v, head;
  double loss = 0;
  global_tensor<double> dx, dw, db, dv, dhead;

  /// Layers [K, L], so that repeats can be distinguished.
  pipelined_network(std::int64_t rows, std::int64_t width, std::int64_t inner, std::int64_t layers,
                    std::int64_t repeats)
      : e{{'B', rows}, {'I', width}, {'J', inner}, {'L', layers}, {'K', repeats}},
        x(small("BI", 1)), target(small("B", 2)), w(small("KLIJ", 3)), b(small("KLJ", 4)), v(small("KLJI", 5)),
        head(small("I", 6)), dx(zero(x)), dw(zero(w)), db(zero(b)), dv(zero(v)), dhead(zero(head)) {
    through_all(static_cast<std::size_t>(rows), static_cast<std::size_t>(width), static_cast<std::size_t>(inner),
                static_cast<std::size_t>(layers * repeats));
  }

  /// Without the axis of repeats.
  static global_tensor<double> once(global_tensor<double> g) {
    g.labels.erase(0, 1);
    return g;
  }

 private:
  [[nodiscard]] global_tensor<double> small(std::string const& letters, int seed) const {
    global_tensor<double> g = whole_numbers<double>(letters, e, seed);
    for (double& value : g.values) value = 0.1 * value + 0.03;
    return g;
  }
  static global_tensor<double> zero(global_tensor<double> g) {
    for (double& value : g.values) value = 0;
    return g;
  }

  void through_all(std::size_t rows, std::size_t width, std::size_t inner, std::size_t layers) {
    for (std::size_t n = 0; n < rows; ++n) {
      std::vector<std::vector<double>> h{{x.values.begin() + static_cast<long>(n * width),
                                          x.values.begin() + static_cast<long>((n + 1) * width)}};
      std::vector<std::vector<double>> a(layers, std::vector<double>(inner));
      for (std::size_t l = 0; l < layers; ++l) {
        h.push_back(h.back());
        for (std::size_t j = 0; j < inner; ++j) {
          double sum = b.values[l * inner + j];
          for (std::size_t i = 0; i < width; ++i) sum += h[l][i] * w.values[(l * width + i) * inner + j];
          a[l][j] = std::tanh(sum);
          for (std::size_t i = 0; i < width; ++i) h[l + 1][i] += a[l][j] * v.values[(l * inner + j) * width + i];
        }
      }
      double error = -target.values[n];
      for (std::size_t i = 0; i < width; ++i) error += h[layers][i] * head.values[i];
      loss += error * error / static_cast<double>(rows);
      double const of_error = 2 * error / static_cast<double>(rows);
      std::vector<double> g(width);
      for (std::size_t i = 0; i < width; ++i) {
        dhead.values[i] += of_error * h[layers][i];
        g[i] = of_error * head.values[i];
      }
      for (std::size_t l = layers; l-- > 0;) {
        std::vector<double> before = g;
        for (std::size_t j = 0; j < inner; ++j) {
          double of_a = 0;
          for (std::size_t i = 0; i < width; ++i) {
            of_a += g[i] * v.values[(l * inner + j) * width + i];
            dv.values[(l * inner + j) * width + i] += a[l][j] * g[i];
          }
          double const of_sum = of_a * (1 - a[l][j] * a[l][j]);
          db.values[l * inner + j] += of_sum;
          for (std::size_t i = 0; i < width; ++i) {
            dw.values[(l * width + i) * inner + j] += of_sum * h[l][i];
            before[i] += of_sum * w.values[(l * width + i) * inner + j];
          }
        }
        g = before;
      }
      for (std::size_t i = 0; i < width; ++i) dx.values[n * width + i] = g[i];
    }
  }
};

/// To rounding.
inline bool is_close(double got, double want) { return std::abs(got - want) <= 1e-12 * (1 + std::abs(want)); }

}  // namespace ostraka::testing
