// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The network of ../shard_map/network.hpp on one device, in plain loops and doubles: its loss, the gradient of every
/// layer, and steps of gradient descent.

#include <cstddef>
#include <vector>

#include "../shard_map/network.hpp"

namespace sequential {

using matrix = std::vector<double>;  // row-major

struct layer {
  matrix W;  // [inputs, outputs]
  matrix b;
};

inline std::size_t inputs_of(std::size_t l) { return static_cast<std::size_t>(network::units[l]); }
inline std::size_t outputs_of(std::size_t l) { return static_cast<std::size_t>(network::units[l + 1]); }

/// The first `rows` of these numbers.
inline matrix matrix_of(network::normal_numbers const& numbers, std::int64_t rows) {
  matrix m;
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < numbers.columns; ++j) m.push_back(double{numbers(i, j)});
  return m;
}

inline std::vector<layer> initial_layers() {
  std::vector<layer> layers;
  for (int l = 0; l < network::layers; ++l)
    layers.push_back({matrix_of(network::weight(l), network::inputs_of(l)), matrix_of(network::bias(l), 1)});
  return layers;
}

/// C[i, j] += Σ a(i, k) b(k, j), where a and b are functions of indices.
template <class A, class B>
void add_product(matrix& c, std::size_t rows, std::size_t sums, std::size_t columns, A const& a, B const& b) {
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t k = 0; k < sums; ++k)
      for (std::size_t j = 0; j < columns; ++j) c[i * columns + j] += a(i, k) * b(k, j);
}

/// The loss; sets `gradient` to that of every layer.
inline double loss(std::vector<layer> const& layers, std::vector<layer>& gradient) {
  constexpr std::size_t N = network::batch;
  std::vector<matrix> x{matrix_of(network::inputs(), network::batch)};  // the input of each layer, and the answer
  for (std::size_t l = 0; l < layers.size(); ++l) {
    std::size_t const D = inputs_of(l), F = outputs_of(l);
    matrix y;
    for (std::size_t n = 0; n < N; ++n) y.insert(y.end(), layers[l].b.begin(), layers[l].b.end());
    add_product(y, N, D, F, [&](auto n, auto d) { return x[l][n * D + d]; },
                [&](auto d, auto f) { return layers[l].W[d * F + f]; });
    if (l + 1 < layers.size())
      for (double& v : y) v = v > 0 ? v : 0;
    x.push_back(y);
  }

  double total = 0;
  matrix g = x.back();  // the cotangent of a layer's answer
  matrix const targets = matrix_of(network::targets(), network::batch);
  for (std::size_t i = 0; i < g.size(); ++i) {
    double const error = g[i] - targets[i];
    total += error * error / N;
    g[i] = 2 * error / N;
  }

  gradient.resize(layers.size());
  for (std::size_t l = layers.size(); l-- > 0;) {
    std::size_t const D = inputs_of(l), F = outputs_of(l);
    gradient[l] = {matrix(D * F), matrix(F)};
    add_product(gradient[l].W, D, N, F, [&](auto d, auto n) { return x[l][n * D + d]; },
                [&](auto n, auto f) { return g[n * F + f]; });
    add_product(gradient[l].b, 1, N, F, [](auto, auto) { return 1.; }, [&](auto n, auto f) { return g[n * F + f]; });
    matrix before(N * D);
    add_product(before, N, F, D, [&](auto n, auto f) { return g[n * F + f]; },
                [&](auto f, auto d) { return layers[l].W[d * F + f]; });
    for (std::size_t i = 0; i < before.size(); ++i)
      if (x[l][i] <= 0) before[i] = 0;  // where relu gave zero
    g = before;
  }
  return total;
}

/// W ← W − rate · gradient
inline void descend(std::vector<layer>& layers, std::vector<layer> const& gradient, double rate) {
  for (std::size_t l = 0; l < layers.size(); ++l) {
    for (std::size_t i = 0; i < layers[l].W.size(); ++i) layers[l].W[i] -= rate * gradient[l].W[i];
    for (std::size_t i = 0; i < layers[l].b.size(); ++i) layers[l].b[i] -= rate * gradient[l].b[i];
  }
}

}  // namespace sequential
