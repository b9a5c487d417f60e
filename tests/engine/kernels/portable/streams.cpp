// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// @file
/// Results larger than the caches, and operands read from four places at once, against plain loops: ends of lines, odd
/// lengths, rows of every size.
// ranks: 1
// labels: essential
#include <doctest/doctest.h>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <vector>

#include <ostraka/engine/kernels/contraction.hpp>

#include "engine/kernels/rows_as_alone.hpp"
#include "support/instances.hpp"

namespace {

namespace engine = ostraka::engine;
using exec_space = Kokkos::DefaultHostExecutionSpace;
using ostraka::testing::fractions;
using ostraka::testing::rows_are_as_alone;

template <class T>
std::vector<T> numbers(std::int64_t count, int seed) {
  std::vector<T> all(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = T(static_cast<float>(static_cast<int>((i * 7 + static_cast<std::size_t>(seed)) % 11) - 5));
  return all;
}

/// C[i, j] = A[i] B[j] in a result that begins `shift` elements into its memory, with rows `step` apart.
template <class T>
bool outer_product_is_right(std::int64_t rows, std::int64_t length, std::int64_t step, std::int64_t shift) {
  std::vector<T> const a = numbers<T>(rows, 1), b = numbers<T>(length, 2);
  std::vector<T> c(static_cast<std::size_t>(rows * step + shift + 1), T(99));
  engine::contraction p;
  p.labels = 2;
  p.extent[0] = rows, p.in_a[0] = p.in_c[0] = true, p.a[0] = 1, p.c[0] = step;
  p.extent[1] = length, p.in_b[1] = p.in_c[1] = true, p.b[1] = 1, p.c[1] = 1;
  engine::contract(exec_space(), p, a.data(), b.data(), c.data() + shift);
  exec_space().fence();
  std::int64_t wrong = 0;
  for (std::int64_t at = 0; at < static_cast<std::int64_t>(c.size()); ++at) {
    std::int64_t const i = (at - shift) / step, j = (at - shift) % step;
    bool const inside = at >= shift && i < rows && j < length;
    T const expected = inside ? T(a[static_cast<std::size_t>(i)] * b[static_cast<std::size_t>(j)]) : T(99);
    if (!(c[static_cast<std::size_t>(at)] == expected)) ++wrong;
  }
  return wrong == 0;
}

/// C[i, j] = A[i] B[i]: the result is repeated along j.
template <class T>
bool repeated_product_is_right(std::int64_t rows, std::int64_t length) {
  std::vector<T> const a = numbers<T>(rows, 1), b = numbers<T>(rows, 2);
  std::vector<T> c(static_cast<std::size_t>(rows * length), T(99));
  engine::contraction p;
  p.labels = 2;
  p.extent[0] = rows, p.in_a[0] = p.in_b[0] = p.in_c[0] = true, p.a[0] = p.b[0] = 1, p.c[0] = length;
  p.extent[1] = length, p.in_c[1] = true, p.c[1] = 1;
  engine::contract(exec_space(), p, a.data(), b.data(), c.data());
  exec_space().fence();
  for (std::size_t at = 0; at < c.size(); ++at) {
    std::size_t const i = at / static_cast<std::size_t>(length);
    if (!(c[at] == a[i] * b[i])) return false;
  }
  return true;
}

/// C[i] = sum over r of A[i, r] B[r], and the sum of A[i, r] alone; integers, so that every order gives the same.
template <class T>
bool rows_are_right(std::int64_t rows, std::int64_t length) {
  std::vector<T> const a = numbers<T>(rows * length, 3), b = numbers<T>(length, 4);
  std::vector<T> products(static_cast<std::size_t>(rows)), sums = products;
  engine::contraction p;
  p.labels = 2;
  p.extent[0] = rows, p.in_a[0] = p.in_c[0] = true, p.a[0] = length, p.c[0] = 1;
  p.extent[1] = length, p.in_a[1] = true, p.a[1] = 1;
  engine::reduce(exec_space(), p, a.data(), sums.data(), engine::reduction::sum);
  p.in_b[1] = true, p.b[1] = 1;
  engine::contract(exec_space(), p, a.data(), b.data(), products.data());
  exec_space().fence();
  for (std::int64_t i = 0; i < rows; ++i) {
    T product = T(0), sum = T(0);
    for (std::int64_t r = 0; r < length; ++r) {
      product += a[static_cast<std::size_t>(i * length + r)] * b[static_cast<std::size_t>(r)];
      sum += a[static_cast<std::size_t>(i * length + r)];
    }
    if (!(products[static_cast<std::size_t>(i)] == product) || !(sums[static_cast<std::size_t>(i)] == sum))
      return false;
  }
  return true;
}

/// C[i] = sum over r of A[r, i], and of A[r, i] B, where B[r], or B[r, i]; rows of A lie `gap` apart from one another.
template <class T>
bool columns_are_right(std::int64_t length, std::int64_t rows, std::int64_t gap) {
  std::int64_t const step = length + gap;
  std::vector<T> const a = numbers<T>(rows * step, 3), b = numbers<T>(rows * length, 4);
  std::vector<T> sums(static_cast<std::size_t>(length)), scaled = sums, products = sums;
  engine::contraction p;
  p.labels = 2;
  p.extent[0] = rows, p.in_a[0] = true, p.a[0] = step;
  p.extent[1] = length, p.in_a[1] = p.in_c[1] = true, p.a[1] = p.c[1] = 1;
  engine::reduce(exec_space(), p, a.data(), sums.data(), engine::reduction::sum);
  p.in_b[0] = true, p.b[0] = 1;
  engine::contract(exec_space(), p, a.data(), b.data(), scaled.data());
  p.in_b[1] = true, p.b[0] = length, p.b[1] = 1;
  engine::contract(exec_space(), p, a.data(), b.data(), products.data());
  exec_space().fence();
  for (std::int64_t i = 0; i < length; ++i) {
    T expected[3] = {T(0), T(0), T(0)};
    for (std::int64_t r = 0; r < rows; ++r) {
      T const x = a[static_cast<std::size_t>(r * step + i)];
      expected[0] = T(expected[0] + x);
      expected[1] = T(expected[1] + x * b[static_cast<std::size_t>(r)]);
      expected[2] = T(expected[2] + x * b[static_cast<std::size_t>(r * length + i)]);
    }
    std::size_t const at = static_cast<std::size_t>(i);
    if (!(sums[at] == expected[0]) || !(scaled[at] == expected[1]) || !(products[at] == expected[2])) return false;
  }
  return true;
}

/// C[i] = sum over r of A[r, i] B[r] of fractions: a column among others has the bits that it has among eight.
template <class T>
bool columns_are_as_among_few(std::int64_t length, std::int64_t rows) {
  std::vector<T> const a = fractions<T>(rows * length, 1, 977), b = fractions<T>(rows, 3, 91);
  std::vector<T> together(static_cast<std::size_t>(length)), apart = together;
  engine::contraction p;
  p.labels = 2;
  p.extent[0] = rows, p.in_a[0] = p.in_b[0] = true, p.a[0] = length, p.b[0] = 1;
  p.extent[1] = length, p.in_a[1] = p.in_c[1] = true, p.a[1] = p.c[1] = 1;
  engine::contract(exec_space(), p, a.data(), b.data(), together.data());
  p.extent[1] = 8;
  for (std::int64_t i = 0; i < length; i += 8)
    engine::contract(exec_space(), p, a.data() + i, b.data(), apart.data() + i);
  exec_space().fence();
  return together == apart;
}

/// C[a, c] = sum over b and d of A[a, b, c, d]: the runs of an output lie farther apart than the outputs.
template <class T>
bool interleaved_sum_is_right(std::int64_t const (&n)[4]) {
  std::vector<T> const a = numbers<T>(n[0] * n[1] * n[2] * n[3], 5);
  std::vector<T> c(static_cast<std::size_t>(n[0] * n[2])), expected(c.size(), T(0));
  engine::contraction p;
  p.labels = 4;
  std::int64_t step = 1;
  for (int l = 3; l >= 0; --l) {
    p.extent[l] = n[l], p.in_a[l] = true, p.a[l] = step;
    step *= n[l];
  }
  p.in_c[0] = p.in_c[2] = true, p.c[0] = n[2], p.c[2] = 1;
  engine::reduce(exec_space(), p, a.data(), c.data(), engine::reduction::sum);
  exec_space().fence();
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::int64_t const at = static_cast<std::int64_t>(i);
    expected[static_cast<std::size_t>(at / (n[1] * n[2] * n[3]) * n[2] + at / n[3] % n[2])] += a[i];
  }
  return c == expected;
}

/// C[i, b] = sum over j of A[i, j, b] B[j, b]
template <class T>
bool batch_of_vectors_is_right(std::int64_t rows, std::int64_t length, std::int64_t batch) {
  std::vector<T> const a = numbers<T>(rows * length * batch, 3), b = numbers<T>(length * batch, 4);
  std::vector<T> c(static_cast<std::size_t>(rows * batch)), expected(c.size(), T(0));
  engine::contraction p;
  p.labels = 3;
  p.extent[0] = rows, p.in_a[0] = p.in_c[0] = true, p.a[0] = length * batch, p.c[0] = batch;
  p.extent[1] = length, p.in_a[1] = p.in_b[1] = true, p.a[1] = p.b[1] = batch;
  p.extent[2] = batch, p.in_a[2] = p.in_b[2] = p.in_c[2] = true, p.a[2] = p.b[2] = p.c[2] = 1;
  engine::contract(exec_space(), p, a.data(), b.data(), c.data());
  exec_space().fence();
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < length; ++j)
      for (std::int64_t e = 0; e < batch; ++e) {
        T const x = a[static_cast<std::size_t>((i * length + j) * batch + e)],
                y = b[static_cast<std::size_t>(j * batch + e)];
        expected[static_cast<std::size_t>(i * batch + e)] += x * y;
      }
  return c == expected;
}

}  // namespace

TEST_CASE("outer products larger than a core's caches") {
  for (std::int64_t const shift : {0, 1, 3}) {
    CHECK(outer_product_is_right<double>(1031, 1031, 1031, shift));
    CHECK(outer_product_is_right<float>(20011, 97, 97, shift));
    CHECK(outer_product_is_right<float>(9973, 131, 149, shift));
    CHECK(outer_product_is_right<int>(401, 4211, 4211, shift));
    CHECK(outer_product_is_right<Kokkos::complex<double>>(613, 701, 703, shift));
  }
  CHECK(outer_product_is_right<Kokkos::complex<float>>(801, 1009, 1009, 1));
  CHECK(outer_product_is_right<double>(600011, 1, 2, 1));
  CHECK(repeated_product_is_right<float>(401, 5003));
  CHECK(repeated_product_is_right<double>(9001, 30));
}

TEST_CASE("outer products larger than the last cache") {
  for (std::int64_t const shift : {0, 1, 3}) CHECK(outer_product_is_right<double>(2069, 2069, 2069, shift));
  CHECK(outer_product_is_right<float>(90011, 97, 97, 1));
  CHECK(outer_product_is_right<float>(70001, 131, 149, 3));
  CHECK(outer_product_is_right<int>(2003, 4211, 4211, 1));
  CHECK(outer_product_is_right<Kokkos::complex<double>>(1511, 1409, 1411, 1));
  CHECK(repeated_product_is_right<double>(1009, 5003));
}

TEST_CASE("middling rows, two or four of which are summed at once") {
  std::vector<std::int64_t> lengths = {255, 319, 320, 321, 383, 450, 1030, 8191, 8192};
  for (std::int64_t length = 256; length <= 272; ++length) lengths.push_back(length);
  for (std::int64_t const length : lengths)
    for (std::int64_t const rows : {1, 2, 3, 4, 5, 6, 7, 8, 9, 70}) {
      CAPTURE(length);
      CAPTURE(rows);
      CHECK(rows_are_right<double>(rows, length));
      CHECK(rows_are_right<float>(rows, length));
      CHECK(rows_are_right<int>(rows, length));
      if (length > 8191) continue;  // sums that long are cut into parts, by extents
      CHECK(rows_are_as_alone<double>(rows, length));
      CHECK(rows_are_as_alone<float>(rows, length));
    }
}

TEST_CASE("matrices that the caches hold, across their rows") {
  for (std::int64_t const length : {63, 64, 65, 128, 300, 511, 512})
    for (std::int64_t const rows : {1, 2, 3, 4, 5, 33, 300})
      for (std::int64_t const gap : {0, 1}) {
        CAPTURE(length);
        CAPTURE(rows);
        CHECK(columns_are_right<double>(length, rows, gap));
        CHECK(columns_are_right<float>(length, rows, gap));
      }
}

TEST_CASE("matrices that the caches hold are cut between columns, not along them") {
  for (std::int64_t const length : {40, 96, 200, 304, 504, 2000})
    for (std::int64_t const rows : {100, 200, 301, 500}) {
      if (length * rows * 8 > 2 << 20) continue;
      CAPTURE(length);
      CAPTURE(rows);
      CHECK(columns_are_as_among_few<double>(length, rows));
      CHECK(columns_are_as_among_few<float>(length, rows));
    }
}

TEST_CASE("rows of every length") {
  for (std::int64_t const length : {1, 3, 15, 16, 17, 63, 96, 511, 512, 515, 2051})
    for (std::int64_t const rows : {1, 3, 4, 7, 90}) {
      CAPTURE(length);
      CAPTURE(rows);
      CHECK(rows_are_right<double>(rows, length));
      CHECK(rows_are_right<float>(rows, length));
      CHECK(rows_are_right<int>(rows, length));
      CHECK(rows_are_right<long>(rows, length));
      CHECK(rows_are_right<Kokkos::complex<double>>(rows, length));
      CHECK(rows_are_as_alone<double>(rows, length));
      CHECK(rows_are_as_alone<float>(rows, length));
    }
}

TEST_CASE_TEMPLATE("rows so long that they are cut into parts", T, double, float, long, Kokkos::complex<double>) {
  for (std::int64_t const length : {32768, 65537, 300007})
    for (std::int64_t const rows : {1, 2, 3}) {
      CAPTURE(length);
      CAPTURE(rows);
      CHECK(rows_are_right<T>(rows, length));
    }
}

TEST_CASE_TEMPLATE("rows of sums of every length", T, double, float, int, Kokkos::complex<float>) {
  for (std::int64_t const length : {1, 3, 7, 8, 9, 17, 63, 64, 1025, 4095, 4097, 9001})
    for (std::int64_t const rows : {2, 3, 4, 5, 9, 70}) {
      CAPTURE(length);
      CAPTURE(rows);
      CHECK(columns_are_right<T>(length, rows, 0));
      CHECK(columns_are_right<T>(length, rows, 3));
    }
}

TEST_CASE("sums over runs that lie apart") {
  for (std::int64_t const run : {5, 18, 64})
    for (std::int64_t const outputs : {1, 3, 9, 32}) {
      CHECK(interleaved_sum_is_right<double>({3, 7, outputs, run}));
      CHECK(interleaved_sum_is_right<int>({2, 40, outputs, run}));
    }
}

TEST_CASE_TEMPLATE("vectors of a batch that lies innermost", T, double, float) {
  for (std::int64_t const batch : {5, 64, 701, 3000})
    for (std::int64_t const rows : {2, 8, 9}) CHECK(batch_of_vectors_is_right<T>(rows, 7, batch));
}
