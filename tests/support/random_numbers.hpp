// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Whole tensors of uniform random numbers, the same on all ranks and in every run.

#include <cstdint>
#include <random>
#include <string>

#include "support/global_tensor.hpp"

namespace ostraka::testing {

/// Numbers from `least` to `most` along the labels, whose extents `e` has among others.
template <class T>
global_tensor<T> random_between(double least, double most, std::string const& labels, extents_by_letter const& e,
                                unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> within(least, most);
  global_tensor<T> g{labels, {}, {}};
  for (char l : labels) g.extents[l] = e.at(l);
  for (std::int64_t n = number_of_elements(labels, e); n > 0; --n) g.values.push_back(static_cast<T>(within(random)));
  return g;
}

/// Numbers from −width to width.
template <class T>
global_tensor<T> random_numbers(std::string const& labels, extents_by_letter const& e, double width, unsigned seed) {
  return random_between<T>(-width, width, labels, e, seed);
}

}  // namespace ostraka::testing
