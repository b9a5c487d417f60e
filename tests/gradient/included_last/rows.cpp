// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Derivatives of templates that stand before ostraka/gradient.hpp is included (against_loops.hpp): softmax, norms,
/// losses, attention, running sums and rows in order.
// sham:

#include <doctest/doctest.h>

#include <ostraka/operations.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

OSTRAKA_AXIS(P, 2);

// The tests differentiate Σ of the elements of each result by x[I, J].

// The rows' softmax, times the row: Σ p x, whose derivative is p (1 + x − Σ p x).
template <class A>
auto mean_by_softmax(A const& x) {
  return os::einsum<I/X>(os::softmax<J>(x), x);
}

// A network's layer: norms, rotations of equal pairs, a loss of classes.
template <class A>
auto by_a_layer(A const& x) {
  auto const ones = os::full<os::tensor<double, P>>(x.mesh(X), 1.0);
  auto const classes = os::zeros<os::tensor<int, I/X>>(x.mesh(X), I = x.extent(I));
  auto const turned = os::rope<I, J, P>(os::einsum<I/X, J, P>(x, ones), os::from_position(3));
  auto const mean = os::rms_norm<J>(x, os::epsilon(0.5)), apart = os::layer_norm<J>(x, os::epsilon(0.5));
  return os::sum<>(turned * turned) + os::sum<>(mean * mean) + os::sum<>(apart * apart) +
         os::sum<>(os::cross_entropy<J>(x, classes));
}

// Attention of the rows to those of B, and to the same in parts in a ring.
template <class A, class B>
auto by_attention(A const& x, B const& b) {
  auto const parts = os::slice<K/X>(b);
  return os::sum<>(os::attention<I, K, J>(x, b, b, os::score_scale(0.5))) +
         os::sum<>(os::attention<I, K/X, J>(x, parts, parts, os::ring, os::score_scale(0.5)));
}

// Running sums, rows in order, and the largest of each row, over its length.
template <class A>
auto by_order(A const& x) {
  auto const largest = os::top_k<J, K>(x, K = 1).values;
  return os::add(os::cumsum<J>(x), os::add(os::sort<J>(x), os::sort_by_key<J>(x).keys)) +
         os::divide(os::einsum<I/X>(largest), os::norm<I/X>(x));
}

}  // namespace

#include "gradient/included_last/against_loops.hpp"

using namespace t::loops;

TEST_CASE("softmax") {
  check_rows([](auto const&, auto const& x) { return os::sum<>(mean_by_softmax(x)); },
             [](std::int64_t i, double* derivatives) {
    double all = 0, mean = 0;
    for (std::int64_t j = 0; j < columns; ++j) all += std::exp(element(i, j));
    for (std::int64_t j = 0; j < columns; ++j) mean += std::exp(element(i, j)) / all * element(i, j);
    for (std::int64_t j = 0; j < columns; ++j)
      derivatives[j] = std::exp(element(i, j)) / all * (1 + element(i, j) - mean);
    return mean;
  });
}

TEST_CASE("running sums, rows in order, and norms") {
  check_rows([](auto const&, auto const& x) { return os::sum<>(by_order(x)); },
             [](std::int64_t i, double* derivatives) {
    double squares = 0, sum = 0;
    for (std::int64_t j = 0; j < columns; ++j) squares += element(i, j) * element(i, j);
    double const length = std::sqrt(squares), largest = element(i, 0);  // elements fall with j
    for (std::int64_t j = 0; j < columns; ++j) {
      auto const sums = static_cast<double>(columns - j);
      sum += (sums + 2) * element(i, j) + largest / length;
      double const of_largest = (j == 0 ? 1 / length : 0.0) - largest * element(i, j) / (squares * length);
      derivatives[j] = sums + 2 + columns * of_largest;
    }
    return sum;
  });
}

TEST_CASE("norms, rotations and losses of classes") {
  check_rows([](auto const&, auto const& x) { return by_a_layer(x); }, [](std::int64_t i, double* derivatives) {
    double mean = 0, squares = 0, apart = 0, all = 0;
    for (std::int64_t j = 0; j < columns; ++j) {
      mean += element(i, j) / columns;
      squares += element(i, j) * element(i, j);
      all += std::exp(element(i, j));
    }
    for (std::int64_t j = 0; j < columns; ++j) apart += std::pow(element(i, j) - mean, 2);
    double const of_squares = squares / columns + 0.5, of_apart = apart / columns + 0.5;
    for (std::int64_t j = 0; j < columns; ++j)
      derivatives[j] = 4 * element(i, j) + element(i, j) / (of_squares * of_squares) +
                       (element(i, j) - mean) / (of_apart * of_apart) + std::exp(element(i, j)) / all -
                       (j == 0 ? 1 : 0);
    return 2 * squares + squares / of_squares + apart / of_apart + std::log(all) - element(i, 0);
  });
}

TEST_CASE("attention, and keys that circulate") {
  t::global_tensor<double> g{"KJ", {{'K', keys}, {'J', columns}}, {}};
  for (std::int64_t k = 0; k < keys; ++k)
    for (std::int64_t j = 0; j < columns; ++j) g.values.push_back(element(j, k));
  check_rows([&](auto const& m, auto const& x) { return by_attention(x, t::placed<os::tensor<double, K, J>>(m, g)); },
             [](std::int64_t i, double* derivatives) {
    double weights[keys], totals[keys], all = 0, result = 0;
    for (std::int64_t k = 0; k < keys; ++k) {
      double score = totals[k] = 0;
      for (std::int64_t j = 0; j < columns; ++j) {
        score += 0.5 * element(i, j) * element(j, k);
        totals[k] += element(j, k);
      }
      all += weights[k] = std::exp(score);
    }
    for (std::int64_t k = 0; k < keys; ++k) result += weights[k] / all * totals[k];
    for (std::int64_t j = 0; j < columns; ++j) {
      derivatives[j] = 0;
      for (std::int64_t k = 0; k < keys; ++k)
        derivatives[j] += weights[k] / all * (totals[k] - result) * element(j, k);
    }
    return 2 * result;
  });
}
