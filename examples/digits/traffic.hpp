// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The bytes that the program moves between devices, from the plans alone.

#include <cstdint>
#include <cstdio>

#include "data.hpp"
#include "ridge.hpp"

namespace digits {

/// Prints each product as the library runs it, with the bytes for these extents.
inline void print_plans(mesh const& m, std::int64_t n, std::int64_t f) {
  auto const sizes = os::sizes(N = n, F = f);
  auto const print = [&](char const* title, auto const& plan) {
    std::printf("\n%s\n%s", title, os::describe(plan, sizes, m.sizes()).c_str());
  };
  print("Features, images · W:", features_plan);
  print("Predictions, H · C:", predict_plan);
  print("Back to the coefficients, transposed H · predictions:", pull_back_plan);
  print("Scalar products, one for each class:", inner_plan);
}

/// The exact number of bytes that all devices together move to fit and to predict.
inline std::int64_t bytes_moved(mesh const& m, dataset const& data, std::int64_t f, int iterations) {
  constexpr auto hand_out_images = os::plan_of<os::dims<N/X, P>, os::tensor<double, N, P, os::partial(X, Y)>>;
  constexpr auto hand_out_classes = os::plan_of<os::dims<N/X, K>, os::tensor<double, N, K, os::partial(X, Y)>>;
  constexpr auto count_right = os::plan_of<os::dims<>, os::tensor<double, N/X>>;
  auto const training = os::sizes(N = data.training.count, F = f);
  auto const held_out = os::sizes(N = data.held_out.count, F = f);
  std::int64_t bytes = 0;
  auto const add = [&](auto const& plan, auto const& sizes, std::int64_t times) {
    bytes += times * plan.total_bytes(sizes, m.sizes());
  };
  add(hand_out_images, training, 1);
  add(hand_out_classes, training, 1);
  add(hand_out_images, held_out, 1);
  add(hand_out_classes, held_out, 1);
  add(predict_plan, training, iterations);
  add(pull_back_plan, training, iterations + 1);
  add(inner_plan, training, 2 * iterations + 1);
  add(predict_plan, held_out, 1);
  add(count_right, held_out, 1);
  return bytes;
}

}  // namespace digits
