// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The order of includes does not matter: a program's templates stand before ostraka/gradient.hpp is included, and take
/// variables, also if they name the namespace (os::add, not add, which argument-dependent lookup would find). A test
/// includes this header, and by it gradient.hpp, behind its templates. It compares their values and derivatives of
/// x[I_X, J] with those of plain loops, and each template also takes tensors.

#include <doctest/doctest.h>

#include <ostraka/gradient.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "support/on_meshes.hpp"

namespace ostraka::testing::loops {

inline constexpr std::int64_t columns = 3, keys = 4;

inline double element(std::int64_t i, std::int64_t j) {
  return 0.3 * static_cast<double>(i) - 0.7 * static_cast<double>(j) + 0.1;
}

inline global_tensor<double> numbers(std::int64_t rows) {
  global_tensor<double> g{"IJ", {{'I', rows}, {'J', columns}}, {}};
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) g.values.push_back(element(i, j));
  return g;
}

inline constexpr auto agree = [](double got, double want) {
  return std::abs(got - want) <= 1e-12 * (1 + std::abs(want));
};

template <class F>
void check(F const& f) {
  on_every_mesh([&](test_mesh const& m) {
    for (std::int64_t const rows : {0, 1, 2, 3, 7}) {
      auto const g = numbers(rows);
      auto const x = placed<ostraka::tensor<double, I/X, J>>(m, g);
      double sum = 0;
      auto values = g, derivatives = g;
      for (std::size_t k = 0; k < g.values.size(); ++k) {
        values.values[k] = F::of(g.values[k]);
        derivatives.values[k] = F::derivative(g.values[k]);
        sum += values.values[k];
      }
      CHECK(disagreements(m, f(x), values, agree) == 0);
      auto const [value, gradient] = ostraka::value_and_grad([&](auto const& v) { return ostraka::sum<>(f(v)); })(x);
      CHECK(agree(ostraka::value(value), sum));
      CHECK(disagreements(m, gradient, derivatives, agree) == 0);
    }
  });
}

/// Compares f(m, x) and its derivatives with those of one row after the other: row(i, derivatives) returns the summand
/// of row i, and sets its derivatives by x[i, 0], x[i, 1], …
template <class F, class Row>
void check_rows(F const& f, Row const& row) {
  on_every_mesh([&](test_mesh const& m) {
    for (std::int64_t const rows : {0, 1, 3, 7}) {
      auto derivatives = numbers(rows);
      auto const x = placed<ostraka::tensor<double, I/X, J>>(m, derivatives);
      double sum = 0;
      for (std::int64_t i = 0; i < rows; ++i) sum += row(i, derivatives.values.data() + i * columns);
      CHECK(agree(ostraka::value(f(m, x)), sum));
      auto const [value, gradient] = ostraka::value_and_grad([&](auto const& v) { return f(m, v); })(x);
      CHECK(agree(ostraka::value(value), sum));
      CHECK(disagreements(m, gradient, derivatives, agree) == 0);
    }
  });
}

}  // namespace ostraka::testing::loops
