// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The network of the examples: layers of 784-128-128-128-128-128-8 units with ReLUs between them, a batch of 32, the
/// mean over the batch of squared errors; all numbers normal, by threefry from seed 0. Its loss is 22.7799.
///
///     os::generate<float, D, F>(mesh, D = network::inputs_of(l), F = network::outputs_of(l), network::weight(l))

#include <array>
#include <cmath>
#include <cstdint>

#include <Kokkos_Macros.hpp>

#include "threefry.hpp"

namespace network {

inline constexpr int layers = 6;
inline constexpr int batch = 32;
inline constexpr std::array<int, layers + 1> units{784, 128, 128, 128, 128, 128, 8};

constexpr int inputs_of(int layer) { return units[static_cast<unsigned>(layer)]; }
constexpr int outputs_of(int layer) { return units[static_cast<unsigned>(layer) + 1]; }

inline constexpr float loss = 22.7799f;

/// True if a computed loss is that of the network. Orders of summation differ by about 1e-5.
inline bool is_loss(double value) { return std::abs(value - double{loss}) < 5e-5; }

/// Row-major normal numbers, divided by a root: a function of row and column, or of a column alone.
struct normal_numbers {
  threefry::words key;
  std::int64_t rows, columns;
  float divisor = 1;
  KOKKOS_FUNCTION float operator()(std::int64_t row, std::int64_t column) const {
    return threefry::normal(key, row * columns + column, rows * columns) / divisor;
  }
  KOKKOS_FUNCTION float operator()(std::int64_t column) const { return (*this)(0, column); }
};

namespace keys {

inline constexpr auto first = threefry::split<layers + 1>(threefry::key_of(0));  // the data's key, then the layers'
inline constexpr auto of_data = threefry::split<3>(first[0]);
constexpr auto of_layer(int l) { return threefry::split<2>(first[static_cast<unsigned>(l) + 1]); }

}  // namespace keys

/// W[inputs_of(l), outputs_of(l)]
inline normal_numbers weight(int l) {
  return {keys::of_layer(l)[0], inputs_of(l), outputs_of(l), std::sqrt(static_cast<float>(inputs_of(l)))};
}

/// b[outputs_of(l)]
constexpr normal_numbers bias(int l) { return {keys::of_layer(l)[1], 1, outputs_of(l)}; }

/// inputs[batch, 784]
constexpr normal_numbers inputs() { return {keys::of_data[1], batch, inputs_of(0)}; }

/// targets[batch, 8]
constexpr normal_numbers targets() { return {keys::of_data[2], batch, outputs_of(layers - 1)}; }

struct relu {
  KOKKOS_FUNCTION float operator()(float v) const { return v > 0 ? v : 0; }
};

struct squared_difference {
  KOKKOS_FUNCTION float operator()(float a, float b) const { return (a - b) * (a - b); }
};

}  // namespace network
