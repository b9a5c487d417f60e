// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Derivatives of templates that stand before ostraka/gradient.hpp is included (against_loops.hpp): moves, products and
/// reductions.
// sham:

#include <doctest/doctest.h>

#include <ostraka/ostraka.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

// The tests differentiate Σ of the elements of each result by x[I, J].

// The verbs of one move.
struct by_moves {
  template <class A>
  auto operator()(A const& x) const {
    auto const whole = os::all_gather<X>(x);  // [I, J]
    auto const columns = os::all_to_all<J/X>(os::slice<I/X>(whole));
    auto const ones = os::slice<L/X>(os::full<os::tensor<double, L>>(x.mesh(X), L = 6, 1.0));
    auto const summands = os::einsum<I, J, os::partial(X)>(os::all_gather<X>(columns), ones, ones);
    return os::add(os::reduce_scatter<I/X>(summands), os::slice<I/X>(os::all_reduce<X>(summands)));
  }
  static double of(double x) { return 12 * x; }
  static double derivative(double) { return 12; }
};

// Reductions of rows, and back, under other shardings and names.
template <class A>
auto by_algebra(A const& x) {
  auto const columns = os::reshard<I, J/X>(os::named("x", os::copy(x)));  // [I, J_X]
  auto const rows = os::rename<K, J>(os::rename<J, K>(os::reshard<I/X, J>(columns)));
  auto const ones = os::full<os::tensor<double, J>>(x.mesh(X), J = 3, 1.0);
  return os::sum<I/X>(rows * x) + os::mean<I/X>(x) + os::max<I/X>(x) - os::min<I/X>(columns) +
         os::prod<I/X>(rows) + os::contract<J>(rows, ones) + os::sum<I/X>(os::zeros_like(x));
}

}  // namespace

#include "gradient/included_last/against_loops.hpp"

using namespace t::loops;

TEST_CASE("moves and products") { check(by_moves{}); }

TEST_CASE("reductions, contractions, other names and shardings") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (std::int64_t const rows : {0, 1, 2}) {
      auto derivatives = numbers(rows);
      auto const x = t::placed<os::tensor<double, I/X, J>>(m, derivatives);
      double sum = 0;
      for (std::int64_t i = 0; i < rows; ++i) {
        double product = 1;
        sum += element(i, 0) - element(i, columns - 1);  // elements fall with j
        for (std::int64_t j = 0; j < columns; ++j) {
          sum += element(i, j) * (element(i, j) + 1.0 / columns + 1);
          product *= element(i, j);
        }
        sum += product;
        for (std::int64_t j = 0; j < columns; ++j)
          derivatives.values[static_cast<std::size_t>(i * columns + j)] =
              2 * element(i, j) + 1.0 / columns + 1 + (j == 0 ? 1 : 0) - (j == columns - 1 ? 1 : 0) +
              product / element(i, j);
      }
      auto const [value, gradient] = os::value_and_grad([](auto const& v) { return os::sum<>(by_algebra(v)); })(x);
      CHECK(agree(os::value(value), sum));
      CHECK(t::disagreements(m, gradient, derivatives, agree) == 0);
    }
  });
}
