// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The parts that the programs of this folder share: tensors of 0, 1, 2, …, products in plain loops, and the verdict. A
/// program ends with status 1 on device 0 if any result is not as expected.

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <vector>

#include <ostraka/ostraka.hpp>

/// jax.numpy.arange(rows * columns).reshape(rows, columns): a function of indices for ostraka::generate.
struct counting {
  std::int64_t columns = 1;
  KOKKOS_FUNCTION std::int64_t operator()(std::int64_t i, std::int64_t j) const { return i * columns + j; }
  KOKKOS_FUNCTION std::int64_t operator()(std::int64_t i) const { return i; }
};

/// Collects the checks of a program.
class verdict {
 public:
  /// Checks that the gathered tensor is these numbers in row-major order. Collective; device 0 prints and compares.
  template <class T>
  void expect(char const* what, T const& found, std::vector<double> const& expected) {
    auto const whole = ostraka::gather_to_root(found);
    if (!whole) return;
    bool same = whole->size() == expected.size();
    std::printf("%s:", what);
    for (std::size_t n = 0; n < whole->size(); ++n) {
      double const value = static_cast<double>(whole->data()[n]);
      std::printf(" %g", value);
      same = same && value == expected[n];
    }
    std::printf("%s\n", same ? "" : "   DIFFERS");
    good_ = good_ && same;
  }

  /// Checks that C = A · B, in plain loops on device 0, to within `tolerance` of a sum. Collective.
  template <class A, class B, class C>
  void expect_product(char const* what, A const& a, B const& b, C const& c, double tolerance = 0) {
    auto const all_a = ostraka::gather_to_root(a);
    auto const all_b = ostraka::gather_to_root(b);
    auto const all_c = ostraka::gather_to_root(c);
    if (!all_c) return;
    bool same = all_c->extent(0) == all_a->extent(0) && all_c->extent(1) == all_b->extent(1);
    for (std::size_t i = 0; same && i < all_c->extent(0); ++i)
      for (std::size_t k = 0; k < all_c->extent(1); ++k) {
        double sum = 0, size = 0;
        for (std::size_t j = 0; j < all_a->extent(1); ++j) {
          double const term = static_cast<double>((*all_a)(i, j)) * static_cast<double>((*all_b)(j, k));
          sum += term;
          size += std::abs(term);
        }
        same = same && std::abs(static_cast<double>((*all_c)(i, k)) - sum) <= tolerance * size;
      }
    std::printf("%s: %s\n", what, same ? "the product of plain loops" : "DIFFERS from the product of plain loops");
    good_ = good_ && same;
  }

  void expect_that(char const* what, bool holds) {
    if (!holds) std::printf("%s: FAIL\n", what);
    good_ = good_ && holds;
  }

  /// The exit status of main.
  [[nodiscard]] int exit_code() const { return good_ ? 0 : 1; }

 private:
  bool good_ = true;
};
