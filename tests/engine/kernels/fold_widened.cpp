// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Products of a large block of 16-bit elements with a small one, whose elements are widened when they are multiplied,
/// against plain loops over integers: every order of labels, gaps that hold NaN, batches, factors of the update, NaN
/// and infinity. Sums are exact as floats, so that the result is the sum rounded once.
// ranks: 1

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include <ostraka/engine/kernels/contraction.hpp>

#include "engine/kernels/contraction_blocks.hpp"

namespace ostraka::testing {
namespace {

int folded = 0;

// All sizes are folded here.
bool const every_size = (least_widened_fold = 0, true);

template <class T>
struct problem : narrow_blocks<T> {
  problem(std::mt19937& random, contraction const& shape, bool gaps)
      : narrow_blocks<T>(random, shape, gaps, &small_value<float>) {}

  bool computes_right(float alpha = 1, float beta = 0) const {
    if (engine::detail::is_widened_fold(this->p)) ++folded;
    return this->computes(alpha, beta, [](float got, auto const& exact) {
      float const x = float(T(static_cast<float>(exact.value)));
      return std::isnan(x) ? std::isnan(got) : got == x;
    });
  }
};

}  // namespace

TEST_CASE_TEMPLATE("all small extents, in every order", T, float16, bfloat16) {
  REQUIRE(every_size);
  std::mt19937 random(1);
  folded = 0;
  for (std::int64_t m : {0, 1, 2, 3, 33})
    for (std::int64_t n : {0, 1, 2, 35})
      for (std::int64_t k : {0, 1, 2, 3, 16})
        for (std::int64_t products : {1, 2, 3})
          for (int repeat = 0; repeat < 8; ++repeat) {
            CAPTURE(m);
            CAPTURE(n);
            CAPTURE(k);
            CAPTURE(products);
            CAPTURE(repeat);
            contraction const shape = shape_of({m, n, k, products}, {left, right, summed, batch});
            REQUIRE(problem<T>(random, shape, repeat % 2 == 1).computes_right());
          }
  CHECK(folded > 100);
}

TEST_CASE_TEMPLATE("several labels of a class", T, float16, bfloat16) {
  std::mt19937 random(2);
  folded = 0;
  for (int repeat = 0; repeat < 200; ++repeat) {
    auto const extent = [&] { return 1 + static_cast<std::int64_t>(random() % 5); };
    int const free = repeat % 2 == 0 ? left : right;
    contraction const shape =
        shape_of({extent(), extent() * 8, extent(), extent(), extent()}, {free, free, summed, summed, batch});
    CAPTURE(repeat);
    REQUIRE(problem<T>(random, shape, repeat % 4 == 3).computes_right());
  }
  CHECK(folded > 30);
}

TEST_CASE_TEMPLATE("long runs, long rows, and sums in parts", T, float16, bfloat16) {
  std::mt19937 random(3);
  folded = 0;
  for (std::int64_t rows : {1, 5, 40, 300, 2111, 9000})
    for (std::int64_t k : {2, 7, 64, 300})
      for (bool first : {false, true})
        for (int repeat = 0; repeat < 2; ++repeat) {
          CAPTURE(rows);
          CAPTURE(k);
          REQUIRE(problem<T>(random, shape_of({rows, k}, {first ? left : right, summed}), false).computes_right());
        }
  CHECK(folded > 20);
  // Few results: the sum is cut into parts. Ones, so that it is exact.
  std::int64_t const k = 300000;
  contraction p = shape_of({2, k}, {left, summed});
  p.a[0] = k, p.a[1] = p.b[1] = p.c[0] = 1;
  std::vector<T> a(std::size_t(2 * k), T(1.0f)), b(std::size_t(k), T(0.125f)), c(2);
  REQUIRE(engine::detail::is_widened_fold(p));
  contract(exec_space(), p, a.data(), b.data(), c.data());
  for (T const x : c) CHECK(float(x) == float(T(37500.0f)));
}

TEST_CASE_TEMPLATE("factors of the update", T, float16, bfloat16) {
  std::mt19937 random(4);
  for (float alpha : {1.0f, 0.0f, -2.0f, 0.25f})
    for (float beta : {0.0f, 1.0f, -0.5f})
      for (int free : {left, right})
        for (int repeat = 0; repeat < 4; ++repeat) {
          CAPTURE(alpha);
          CAPTURE(beta);
          REQUIRE(problem<T>(random, shape_of({50, 33}, {free, summed}), false).computes_right(alpha, beta));
        }
}

TEST_CASE_TEMPLATE("NaN and infinity reach the results that they belong to, and no others", T, float16, bfloat16) {
  std::mt19937 random(5);
  float const inf = std::numeric_limits<float>::infinity();
  for (int repeat = 0; repeat < 16; ++repeat) {
    problem<T> x(random, shape_of({40, 33}, {left, summed}), repeat % 4 == 3);
    auto const set = [&](std::int64_t i, std::int64_t k, float value) {
      std::int64_t const index[] = {i, k};
      x.element(x.a, x.p.in_a, x.p.a, index) = T(value);
    };
    set(0, 32, std::nanf(""));
    set(1, 0, inf);
    set(2, 16, -inf);
    set(39, 0, inf);
    set(39, 32, -inf);
    CAPTURE(repeat);
    REQUIRE(x.computes_right());
  }
}

}  // namespace ostraka::testing
