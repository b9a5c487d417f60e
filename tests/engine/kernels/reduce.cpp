// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// @file
/// Reductions of one block against plain loops: every kind, every type, every order of dimensions, empty ranges, NaN,
/// long sums with one result.
// ranks: 1
// labels: essential
#include <doctest/doctest.h>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include <ostraka/engine/kernels/reduce.hpp>

#include "support/instances.hpp"

namespace {

using namespace ostraka::engine;
using exec_space = Kokkos::DefaultHostExecutionSpace;

/// A block of these extents with dimensions in `order` (innermost last), reduced over those not kept, into a row-major
/// result.
contraction problem_of(std::vector<std::int64_t> const& extents, std::vector<int> const& order, unsigned kept,
                       std::int64_t gap) {
  contraction p;
  p.labels = static_cast<int>(extents.size());
  std::int64_t step = 1 + gap;
  for (std::size_t i = order.size(); i-- > 0;) {
    p.a[order[i]] = step;
    step = step * std::max<std::int64_t>(1, extents[static_cast<std::size_t>(order[i])]) + gap;
  }
  step = 1;
  for (int l = p.labels - 1; l >= 0; --l) {
    p.extent[l] = extents[static_cast<std::size_t>(l)];
    p.in_a[l] = true;
    p.in_c[l] = (kept >> l & 1u) != 0;
    if (!p.in_c[l]) continue;
    p.c[l] = step;
    step *= p.extent[l];
  }
  return p;
}

std::int64_t size_of(contraction const& p, bool result) {
  std::int64_t n = 1;
  for (int l = 0; l < p.labels; ++l)
    if (!result || p.in_c[l]) n *= p.extent[l];
  return n;
}

/// c <- alpha sum(a) + beta c; if beta = 0, c may hold values that give no number.
template <class T>
bool adds_to(contraction const& p, std::vector<T> const& a, std::vector<T> const& sums, T alpha, T beta) {
  std::vector<T> c(sums.size()), expected(sums.size());
  for (std::size_t i = 0; i < c.size(); ++i) {
    T const before = T(static_cast<float>(static_cast<int>(i % 11) - 5));
    c[i] = beta != T(0) || std::is_integral_v<T> ? before : T(std::nanf(""));
    expected[i] = alpha * sums[i] + beta * before;
  }
  reduce(exec_space(), p, a.data(), c.data(), reduction::sum, {alpha, beta});
  Kokkos::fence();
  return c == expected;
}

template <class T>
bool reduces_right(contraction const& p, reduction how, std::mt19937& random) {
  std::int64_t room = 1;
  for (int l = 0; l < p.labels; ++l) room += std::max<std::int64_t>(0, p.extent[l] - 1) * p.a[l];
  std::vector<T> a(static_cast<std::size_t>(room));
  for (T& x : a) x = T(static_cast<float>(static_cast<int>(random() % 2001) - 1000));
  std::vector<T> c(static_cast<std::size_t>(size_of(p, true)), T(55)), expected(c.size());
  std::vector<bool> seen(c.size(), false);
  for (std::int64_t i = 0, n = size_of(p, false); i < n; ++i) {
    std::int64_t rest = i, from = 0, into = 0;
    for (int l = p.labels - 1; l >= 0; --l) {
      from += rest % p.extent[l] * p.a[l];
      if (p.in_c[l]) into += rest % p.extent[l] * p.c[l];
      rest /= p.extent[l];
    }
    T const x = a[static_cast<std::size_t>(from)];
    std::size_t const at = static_cast<std::size_t>(into);
    if (!seen[at]) expected[at] = x;
    else if (how == reduction::sum) expected[at] += x;
    else if constexpr (std::is_arithmetic_v<T>)
      expected[at] = how == reduction::max ? std::max(expected[at], x) : std::min(expected[at], x);
    seen[at] = true;
  }
  reduce(exec_space(), p, a.data(), c.data(), how);
  Kokkos::fence();
  if (c != expected) return false;
  if (how == reduction::sum && !(adds_to<T>(p, a, expected, T(2), T(0)) && adds_to<T>(p, a, expected, T(1), T(1)) &&
                                 adds_to<T>(p, a, expected, T(-1), T(3)) && adds_to<T>(p, a, expected, T(0), T(2))))
    return false;

  // the kernel that accelerators run, in a plain loop: whole, and in parts
  detail::reduction_loops loops;
  for (int l = 0; l < p.labels; ++l) {
    if (p.in_c[l]) loops.outputs.add(p.extent[l], p.a[l], p.c[l]);
    else loops.reduced.add(p.extent[l], p.a[l]);
  }
  loops = loops.ordered();
  std::int64_t const step = static_cast<std::int64_t>(c.size());
  for (std::int64_t parts : {1, 3}) {
    std::vector<T> partial(c.size() * static_cast<std::size_t>(parts), T(44));
    detail::reduce_elements<T> const kernel{
        {a.data(), partial.data(), how, identity<T>(how), parts, step, loops.reduced, {}}, loops.outputs};
    for (std::int64_t i = parts * step; i-- > 0;) kernel(i);
    for (std::size_t i = 0; i < c.size(); ++i) {
      T whole = partial[i];
      for (std::size_t part = 1; part < static_cast<std::size_t>(parts); ++part)
        whole = combine(how, whole, partial[i + part * c.size()]);
      if (whole != expected[i]) return false;
    }
  }
  return true;
}

}  // namespace

TEST_CASE_TEMPLATE("every set of kept dimensions in every order", T, float, double, Kokkos::complex<float>,
                   Kokkos::complex<double>, std::int32_t, std::int64_t) {
  std::mt19937 random(21);
  std::vector<int> order = {0, 1, 2, 3};
  do
    for (unsigned kept = 0; kept < 16; ++kept)
      for (reduction how : {reduction::sum, reduction::max, reduction::min}) {
        if (!is_ordered<T> && how != reduction::sum) continue;
        REQUIRE(reduces_right<T>(problem_of({3, 17, 2, 5}, order, kept, kept % 3), how, random));
      }
  while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE_TEMPLATE("long reductions, few or many results, are cut into parts and put together", T, double,
                   std::int32_t) {
  std::mt19937 random(22);
  for (std::vector<std::int64_t> const& extents :
       std::vector<std::vector<std::int64_t>>{{1, 300001}, {3, 100003}, {130, 5000}, {7000, 70}})
    for (unsigned kept = 0; kept < 4; ++kept)
      for (std::vector<int> const& order : {std::vector<int>{0, 1}, std::vector<int>{1, 0}})
        for (reduction how : {reduction::sum, reduction::min})
          REQUIRE(reduces_right<T>(problem_of(extents, order, kept, kept % 2), how, random));
}

TEST_CASE_TEMPLATE("sums of short and long rows, side by side and apart", T, float, double, std::int32_t) {
  for (std::int64_t width : {1, 7, 63, 64, 65, 127, 128, 129, 511, 512, 1023, 1024, 1025})
    for (std::int64_t rows = 0; rows < 10; ++rows)
      for (std::int64_t next : {width, width + 3}) {
        std::vector<T> x(static_cast<std::size_t>(rows * next + 1)), y(x.size());
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = T(i % 13), y[i] = T(i % 7);
        std::vector<T> sums(static_cast<std::size_t>(width), T(2)), scaled = sums, products = sums, want = sums,
                       want_scaled = sums, want_products = sums;
        for (std::int64_t r = 0; r < rows; ++r)
          for (std::int64_t i = 0; i < width; ++i) {
            std::size_t const at = static_cast<std::size_t>(r * next + i), to = static_cast<std::size_t>(i);
            want[to] += x[at];
            want_scaled[to] += x[at] * y[static_cast<std::size_t>(r)];
            want_products[to] += x[at] * y[at];
          }
        detail::sum_rows(sums.data(), width, x.data(), next, rows);
        detail::sum_scaled_rows(scaled.data(), width, x.data(), next, y.data(), 1, rows);
        detail::sum_row_products(products.data(), width, x.data(), next, y.data(), next, rows);
        REQUIRE(sums == want);
        REQUIRE(scaled == want_scaled);
        REQUIRE(products == want_products);
      }
}

namespace {

/// Sums and products of 16 bits are floats until they are complete, so that results that are exact in floats are
/// rounded once.
template <class T>
bool rounds_once(contraction const& p, reduction how, std::mt19937& random) {
  std::int64_t room = 1;
  for (int l = 0; l < p.labels; ++l) room += std::max<std::int64_t>(0, p.extent[l] - 1) * p.a[l];
  std::vector<T> a(static_cast<std::size_t>(room));
  for (T& x : a)
    x = how == reduction::prod ? T(random() % 2 == 0 ? 1.0f : -1.0f)
                               : T(static_cast<float>(static_cast<int>(random() % 15) - 5));
  std::vector<T> c(static_cast<std::size_t>(size_of(p, true)), T(3.0f));
  std::vector<double> expected(c.size(), how == reduction::prod ? 1 : 0);
  for (std::int64_t i = 0, n = size_of(p, false); i < n; ++i) {
    std::int64_t rest = i, from = 0, into = 0;
    for (int l = p.labels - 1; l >= 0; --l) {
      from += rest % p.extent[l] * p.a[l];
      if (p.in_c[l]) into += rest % p.extent[l] * p.c[l];
      rest /= p.extent[l];
    }
    double const x = static_cast<double>(static_cast<float>(a[static_cast<std::size_t>(from)]));
    double& e = expected[static_cast<std::size_t>(into)];
    e = how == reduction::prod ? e * x : e + x;
  }
  auto const agrees = [&](double alpha, double beta) {
    for (std::size_t i = 0; i < c.size(); ++i)
      if (c[i].bits() != T(alpha * expected[i] + beta * 3).bits()) return false;
    return true;
  };
  reduce(exec_space(), p, a.data(), c.data(), how);
  if (!agrees(1, 0)) return false;
  if (how != reduction::sum) return true;
  std::fill(c.begin(), c.end(), T(3.0f));
  reduce(exec_space(), p, a.data(), c.data(), how, {0.5f, 2.0f});
  if (!agrees(0.5, 2)) return false;

  // the accelerators' kernel, in two parts and at once
  detail::reduction_loops loops;
  for (int l = 0; l < p.labels; ++l) {
    if (p.in_c[l]) loops.outputs.add(p.extent[l], p.a[l], p.c[l]);
    else loops.reduced.add(p.extent[l], p.a[l]);
  }
  loops = loops.ordered();
  detail::reduce_elements<float, T, T> const whole{{a.data(), c.data(), how, 0.0f, 1, 0, loops.reduced, {}},
                                                   loops.outputs};
  for (std::int64_t i = loops.outputs.size(); i-- > 0;) whole(i);
  return agrees(1, 0);
}

}  // namespace

TEST_CASE_TEMPLATE("sums of 16 bits are rounded once and set little aside", T, ostraka::float16, ostraka::bfloat16) {
  std::mt19937 random(23);
  auto& pool = workspace<exec_space::memory_space>::instance();
  std::vector<int> order = {0, 1, 2};
  do
    for (unsigned kept = 0; kept < 8; ++kept)
      for (reduction how : {reduction::sum, reduction::prod})
        REQUIRE(rounds_once<T>(problem_of({3, 17, 21}, order, kept, kept % 3), how, random));
  while (std::next_permutation(order.begin(), order.end()));
  for (std::vector<std::int64_t> const& extents :
       std::vector<std::vector<std::int64_t>>{{1, 300001}, {3, 100003}, {130, 5000}, {7000, 70}, {100000, 3}})
    for (unsigned kept = 0; kept < 4; ++kept)
      for (std::vector<int> const& lies : {std::vector<int>{0, 1}, std::vector<int>{1, 0}}) {
        pool.release();
        contraction const p = problem_of(extents, lies, kept, 0);
        REQUIRE(rounds_once<T>(p, reduction::sum, random));
        CHECK(pool.most_used() <= static_cast<std::size_t>(size_of(p, false)) * sizeof(T) / 8);
      }
}

TEST_CASE("nothing to reduce gives the identity, no result is no work") {
  contraction const nothing = problem_of({3, 0}, {0, 1}, 1, 0);
  std::vector<double> c(3, 9.0);
  double const* const none = nullptr;
  reduce(exec_space(), nothing, none, c.data(), reduction::sum);
  CHECK(c == std::vector<double>(3, 0.0));
  reduce(exec_space(), nothing, none, c.data(), reduction::max);
  CHECK(c == std::vector<double>(3, -std::numeric_limits<double>::infinity()));
  reduce(exec_space(), nothing, none, c.data(), reduction::sum, {2.0, 0.0});
  CHECK(c == std::vector<double>(3, 0.0));
  c = {1.0, 2.0, 3.0};
  reduce(exec_space(), nothing, none, c.data(), reduction::sum, {2.0, 5.0});
  CHECK(c == std::vector<double>{5.0, 10.0, 15.0});
  reduce(exec_space(), nothing, none, c.data(), reduction::max);
  std::vector<std::int32_t> small(3, 9);
  reduce(exec_space(), nothing, static_cast<std::int32_t const*>(nullptr), small.data(), reduction::min);
  CHECK(small == std::vector<std::int32_t>(3, std::numeric_limits<std::int32_t>::max()));
  reduce(exec_space(), problem_of({0, 3}, {0, 1}, 1, 0), none, c.data(), reduction::sum);
  CHECK(c == std::vector<double>(3, -std::numeric_limits<double>::infinity()));
}

TEST_CASE("a NaN stays wherever it stands") {
  contraction const p = problem_of({4, 9}, {0, 1}, 1, 0);
  contraction const across = problem_of({4, 9}, {1, 0}, 1, 0);
  for (std::size_t at = 0; at < 36; ++at)
    for (reduction how : {reduction::max, reduction::min, reduction::sum}) {
      std::vector<double> a(36, 1.0), c(4);
      a[at] = std::numeric_limits<double>::quiet_NaN();
      reduce(exec_space(), p, a.data(), c.data(), how);
      for (std::size_t i = 0; i < 4; ++i) CHECK(std::isnan(c[i]) == (i == at / 9));
      reduce(exec_space(), across, a.data(), c.data(), how);
      for (std::size_t i = 0; i < 4; ++i) CHECK(std::isnan(c[i]) == (i == at % 4));
    }
}

TEST_CASE("complex numbers are summed only") {
  contraction const p = problem_of({2}, {0}, 0, 0);
  Kokkos::complex<double> const a[2] = {{1, 2}, {3, 4}};
  Kokkos::complex<double> c;
  CHECK_THROWS_AS(reduce(exec_space(), p, a, &c, reduction::max), ostraka::error);
}
