// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Contractions of bfloat16 on the host: as floats, by a library of plain loops behind the seam, and by oneDNN where
/// the test is linked with it, against plain loops in doubles with the bound of sums of floats that are rounded once.
/// Gaps between elements hold NaN.
// ranks: 1

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <ostraka/engine/kernels/contraction.hpp>
#include <ostraka/engine/kernels/products/bfloat16_products.hpp>

#include "engine/kernels/contraction_blocks.hpp"

namespace ostraka::testing {
namespace {

bfloat16_library const* const linked = bfloat16_library_of_program;
std::atomic<int> calls = 0;

// The place of element (i, j) of a matrix of a product that is stored by rows, or by columns.
std::int64_t place(bool by_rows, std::int64_t leading, std::int64_t i, std::int64_t j) {
  return by_rows ? i * leading + j : i + j * leading;
}

// A library behind the seam that needs no instructions.
struct plain_loops {
  static std::string name() { return "plain loops"; }
  static bool serves_processor() { return true; }
  static bool has(matrix_product const&) { return true; }
  static void multiply(matrix_product const& p, bfloat16 const* a, bfloat16 const* b, bfloat16* c) {
    ++calls;
    for (std::int64_t s = 0; s < p.batch; ++s)
      for (std::int64_t i = 0; i < p.m; ++i)
        for (std::int64_t j = 0; j < p.n; ++j) {
          float sum = 0;
          for (std::int64_t l = 0; l < p.k; ++l)
            sum += float(a[s * p.step[0] + place(p.by_rows != p.a.transposed, p.a.leading, i, l)]) *
                   float(b[s * p.step[1] + place(p.by_rows != p.b.transposed, p.b.leading, l, j)]);
          c[s * p.step[2] + place(p.by_rows, p.c_leading, i, j)] = bfloat16(sum);
        }
  }
};
constexpr bfloat16_library loops{&plain_loops::name, &plain_loops::serves_processor, &plain_loops::has,
                                 &plain_loops::multiply};

// The linked library, whose calls are counted.
struct counted {
  static void multiply(matrix_product const& p, bfloat16 const* a, bfloat16 const* b, bfloat16* c) {
    ++calls;
    linked->multiply(p, a, b, c);
  }
};

// Calls f without a library, with the loops, and with the linked library if this processor is one for it. Products of
// any size are the library's.
template <class F>
void with_every_library(F const& f) {
  bfloat16_worth const worth = std::exchange(worth_of_bfloat16_library, {0, 0, 2, 0});
  bfloat16_library const of_program =
      linked ? bfloat16_library{linked->name, linked->serves_processor, linked->has, &counted::multiply} : loops;
  for (bfloat16_library const* library : {static_cast<bfloat16_library const*>(nullptr), &loops, &of_program}) {
    if (library == &of_program && (linked == nullptr || !linked->serves_processor())) continue;
    bfloat16_library_of_program = library;
    std::thread([&] {  // whose plans are made for this library
      std::string const name = library ? library->name() : "none";
      CAPTURE(name);
      try {
        f(library);
      } catch (...) {  // of a REQUIRE, which has reported the failure
      }
    })
        .join();
  }
  bfloat16_library_of_program = linked;
  worth_of_bfloat16_library = worth;
}

constexpr double u = 0x1p-8;

// Rounded once from a sum of floats, where numbers below the smallest normal one may count as zero.
double bound(double exact, double size, std::int64_t terms) {
  double const floats = 2 * static_cast<double>(terms) * (0x1p-24 * size + 0x1p-126);
  return u * std::abs(exact) + (1 + u) * floats + 0x1p-133;
}

bool is_right(double got, double exact, double size, std::int64_t terms) {
  if (std::isnan(exact)) return std::isnan(got);
  if (std::isinf(exact)) return got == exact;
  return std::abs(got - exact) <= bound(exact, size, terms);
}

struct problem : narrow_blocks<bfloat16> {
  problem(std::mt19937& random, contraction const& shape, bool gaps)
      : narrow_blocks(random, shape, gaps,
                      [](std::mt19937& r) { return static_cast<float>(static_cast<int>(r() % 4001) - 2000) / 2000; }) {}

  bool computes_right(float alpha = 1, float beta = 0) const {
    std::int64_t terms = 2;
    for (int l = 0; l < p.labels; ++l)
      if (!p.in_c[l]) terms *= p.extent[l];
    return computes(alpha, beta, [terms](float got, exact_sum const& exact) {
      return is_right(double(got), exact.value, exact.size, terms);
    });
  }
};

}  // namespace

TEST_CASE("the linked library serves this processor") {
  if (linked == nullptr) return;
  if (!linked->serves_processor())
    MESSAGE("SKIPPED: ", linked->name(), " finds no instructions for bfloat16 on this processor");
}

TEST_CASE("all small extents") {
  with_every_library([](bfloat16_library const* library) {
    std::mt19937 random(1);
    calls = 0;
    for (std::int64_t m = 0; m < 5; ++m)
      for (std::int64_t n = 0; n < 4; ++n)
        for (std::int64_t k = 0; k < 4; ++k)
          for (int repeat = 0; repeat < 6; ++repeat) {
            CAPTURE(m);
            CAPTURE(n);
            CAPTURE(k);
            CAPTURE(repeat);
            REQUIRE(problem(random, shape_of({m, n, k}, {left, right, summed}), repeat % 2 == 1).computes_right());
          }
    CHECK((calls > 0) == (library != nullptr));
  });
}

TEST_CASE("every combination of label classes, permuted and padded") {
  with_every_library([](bfloat16_library const* library) {
    std::mt19937 random(2);
    calls = 0;
    for_each_set_of_classes(random, {batch, left, right, summed, only_a, only_b}, 2, 4,
                            [&](contraction const& shape, int repeat) {
                              REQUIRE(problem(random, shape, repeat % 2 == 1).computes_right());
                            });
    CHECK((calls > 0) == (library != nullptr));
  });
}

TEST_CASE("uneven matrices larger than vectors and tiles, alone and in batches") {
  with_every_library([](bfloat16_library const*) {
    std::mt19937 random(3);
    for (std::int64_t m : {1, 5, 16, 67})
      for (std::int64_t n : {1, 33, 64, 130})
        for (std::int64_t k : {1, 31, 129, 515})
          for (bool gaps : {false, true}) {
            CAPTURE(m);
            CAPTURE(n);
            CAPTURE(k);
            CAPTURE(gaps);
            REQUIRE(problem(random, shape_of({m, n, k}, {left, right, summed}), gaps).computes_right());
            if (m <= 16 && k <= 129)
              REQUIRE(problem(random, shape_of({3, m, n, k}, {batch, left, right, summed}), gaps).computes_right());
          }
  });
}

TEST_CASE("a product by rows or columns, transposed, padded, in a batch, with one repeated") {
  with_every_library([](bfloat16_library const* library) {
    if (library == nullptr) return;
    std::int64_t const m = 3, n = 4, k = 5, products = 2;
    int done = 0;
    for (int bits = 0; bits < 64; ++bits) {
      CAPTURE(bits);
      bool const by_rows = (bits & 1) != 0, a_turned = (bits & 2) != 0, b_turned = (bits & 4) != 0;
      bool const b_repeated = (bits & 8) != 0, a_repeated = (bits & 16) != 0;
      int const gap = (bits & 32) != 0 ? 1 : 0;
      bool const a_by_rows = by_rows != a_turned, b_by_rows = by_rows != b_turned;
      matrix_product const p{by_rows,
                             m,
                             n,
                             k,
                             {a_turned, (a_by_rows ? k : m) + gap},
                             {b_turned, (b_by_rows ? n : k) + 2 * gap},
                             (by_rows ? n : m) + 3 * gap,
                             products,
                             {a_repeated ? 0
                              : gap      ? 60
                                         : m * k,
                              b_repeated ? 0
                              : gap      ? 70
                                         : k * n,
                              gap ? 80 : m * n}};
      std::mt19937 random(static_cast<unsigned>(bits));
      bfloat16 const unread(std::nanf(""));
      std::vector<bfloat16> a(200, unread), b(200, unread), c(200, unread);
      auto const fill = [&](std::vector<bfloat16>& x, bool rows_first, std::int64_t leading, std::int64_t step,
                            std::int64_t rows, std::int64_t columns) {
        for (std::int64_t s = 0; s < products; ++s)
          for (std::int64_t i = 0; i < rows; ++i)
            for (std::int64_t j = 0; j < columns; ++j)
              x[std::size_t(s * step + place(rows_first, leading, i, j))] = bfloat16(small_value<float>(random));
      };
      fill(a, a_by_rows, p.a.leading, p.step[0], m, k);
      fill(b, b_by_rows, p.b.leading, p.step[1], k, n);
      if (!library->has(p)) continue;
      ++done;
      library->multiply(p, a.data(), b.data(), c.data());
      std::size_t written = 0;
      for (bfloat16 const x : c) written += std::isnan(float(x)) ? 0 : 1;
      CHECK(written == std::size_t(products * m * n));
      for (std::int64_t s = 0; s < products; ++s)
        for (std::int64_t i = 0; i < m; ++i)
          for (std::int64_t j = 0; j < n; ++j) {
            double sum = 0;  // of at most 245: exact
            for (std::int64_t l = 0; l < k; ++l)
              sum += double(float(a[std::size_t(s * p.step[0] + place(a_by_rows, p.a.leading, i, l))])) *
                     double(float(b[std::size_t(s * p.step[1] + place(b_by_rows, p.b.leading, l, j))]));
            CHECK(double(float(c[std::size_t(s * p.step[2] + place(by_rows, p.c_leading, i, j))])) == sum);
          }
    }
    CHECK(done >= 24);  // those without gaps in which one is repeated at most
  });
}

TEST_CASE("factors of the update") {
  with_every_library([](bfloat16_library const*) {
    std::mt19937 random(4);
    for (float alpha : {1.0f, 0.0f, -2.0f, 0.1f})
      for (float beta : {0.0f, 1.0f, -0.3f}) {
        CAPTURE(alpha);
        CAPTURE(beta);
        REQUIRE(problem(random, shape_of({17, 33, 40}, {left, right, summed}), true).computes_right(alpha, beta));
      }
  });
}

TEST_CASE("NaN and infinity reach the results that they belong to, and no others") {
  float const inf = std::numeric_limits<float>::infinity();
  with_every_library([&](bfloat16_library const*) {
    std::mt19937 random(5);
    for (std::int64_t k : {1, 2, 3, 33})
      for (std::int64_t n : {1, 3, 17, 65})
        for (bool gaps : {false, true}) {
          problem x(random, shape_of({5, n, k}, {left, right, summed}), gaps);
          auto const set = [&](std::vector<bfloat16>& of, bool const* present, std::int64_t const* stride,
                               std::vector<std::int64_t> const& index, float value) {
            of[static_cast<std::size_t>(at(x.p, present, stride, index.data()))] = bfloat16(value);
          };
          set(x.a, x.p.in_a, x.p.a, {0, 0, k - 1}, std::nanf(""));
          set(x.a, x.p.in_a, x.p.a, {1, 0, 0}, inf);
          set(x.a, x.p.in_a, x.p.a, {2, 0, k / 2}, -inf);
          set(x.a, x.p.in_a, x.p.a, {3, 0, 0}, inf);
          set(x.a, x.p.in_a, x.p.a, {3, 0, k - 1}, -inf);
          set(x.b, x.p.in_b, x.p.b, {0, n / 2, 0}, 0.0f);  // infinity times zero
          CAPTURE(k);
          CAPTURE(n);
          CAPTURE(gaps);
          REQUIRE(x.computes_right());
        }
  });
}

TEST_CASE("a sum is rounded once, and becomes infinite beyond the largest number") {
  with_every_library([](bfloat16_library const*) {
    contraction p = shape_of({2, 3, 300}, {left, right, summed});
    std::int64_t const a_step[] = {300, 0, 1}, b_step[] = {0, 300, 1}, c_step[] = {3, 1, 0};
    for (int l = 0; l < 3; ++l) p.a[l] = a_step[l], p.b[l] = b_step[l], p.c[l] = c_step[l];
    std::vector<bfloat16> a(600, bfloat16(1.0f)), b(900, bfloat16(1.0f)), c(6);
    auto const all_are = [&](float value) {
      contract(exec_space(), p, a.data(), b.data(), c.data());
      for (bfloat16 const x : c)
        if (float(x) != value) return false;
      return true;
    };
    CHECK(all_are(300));  // one after the other in bfloat16 they would stay at 256
    std::fill(a.begin(), a.end(), bfloat16(0x1p127f));
    CHECK(all_are(std::numeric_limits<float>::infinity()));
  });
}

TEST_CASE("numbers below the smallest normal one count as themselves or as zero") {
  with_every_library([](bfloat16_library const*) {
    std::mt19937 random(6);
    problem x(random, shape_of({4, 16, 8}, {left, right, summed}), false);
    for (std::size_t i = 0; i < x.a.size(); ++i) x.a[i] = bfloat16(std::ldexp(float(x.a[i]), -128));
    CHECK(x.computes_right());
  });
}

TEST_CASE("more shapes than a thread remembers, again and again") {
  with_every_library([](bfloat16_library const*) {
    for (int round = 0; round < 2; ++round) {
      std::mt19937 random(7);
      for (std::int64_t n = 1; n <= 150; ++n) {
        CAPTURE(n);
        REQUIRE(problem(random, shape_of({5, n, 4}, {left, right, summed}), false).computes_right());
      }
    }
  });
}

TEST_CASE("host threads at once") {
  with_every_library([](bfloat16_library const*) {
    std::atomic<int> wrong = 0;
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 4; ++t)
      threads.emplace_back([t, &wrong] {
        std::mt19937 random(t);
        for (int i = 0; i < 20; ++i)
          if (!problem(random, shape_of({4 + i % 5, 20 + i, 30}, {left, right, summed}), i % 2 == 1).computes_right())
            ++wrong;
      });
    for (std::thread& t : threads) t.join();
    CHECK(wrong == 0);
  });
}

TEST_CASE("small contractions and those of other elements are not the library's") {
  bfloat16_library_of_program = &loops;
  calls = 0;
  std::mt19937 random(8);
  CHECK(problem(random, shape_of({3, 4, 5}, {left, right, summed}), false).computes_right());
  std::vector<float> a(64 * 64, 1), b(64 * 64, 1), c(64 * 64);
  contraction p = shape_of({64, 64, 64}, {left, right, summed});
  std::int64_t const a_step[] = {64, 0, 1}, b_step[] = {0, 1, 64}, c_step[] = {64, 1, 0};
  for (int l = 0; l < 3; ++l) p.a[l] = a_step[l], p.b[l] = b_step[l], p.c[l] = c_step[l];
  contract(exec_space(), p, a.data(), b.data(), c.data());
  CHECK(calls == 0);
  CHECK(problem(random, shape_of({64, 64, 64}, {left, right, summed}), false).computes_right());
  CHECK(calls == 1);
  bfloat16_library_of_program = linked;
}

}  // namespace ostraka::testing
