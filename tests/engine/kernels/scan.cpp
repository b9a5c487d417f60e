// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Running sums, products and extremes of rows against plain loops: rows along and across, none, empty ones, one
/// element less and more than a block of work, all element types, exclusive and reversed, with an initial value, totals
/// alone, and in place. Whole numbers, whose sums are exact; real ones as precisely as pairwise sums.
// ranks: 1
// labels: essential
// sham:

#include <doctest/doctest.h>

#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include <ostraka/engine/kernels/rows/scan_rows.hpp>

namespace {

using namespace ostraka::engine;
using ostraka::accumulator_of_t;
using exec_space = Kokkos::DefaultHostExecutionSpace;

template <class T>
struct running {
  std::vector<T> y;
  std::vector<accumulator_of_t<T>> totals;
};

/// One element after another.
template <class T, class Combine>
running<T> by_loops(row_layout const& rows, scan_direction how, std::vector<T> const& x,
                    std::vector<accumulator_of_t<T>> const& start, Combine const& combined) {
  using sum = accumulator_of_t<T>;
  running<T> r{x, start};
  for (std::int64_t o = 0; o < rows.outer; ++o)
    for (std::int64_t i = 0; i < rows.step; ++i) {
      sum& s = r.totals[static_cast<std::size_t>(o * rows.step + i)];
      for (std::int64_t k = 0; k < rows.length; ++k) {
        std::int64_t const at = how.reverse ? rows.length - 1 - k : k;
        auto const place = static_cast<std::size_t>((o * rows.length + at) * rows.step + i);
        sum const next = combined(s, static_cast<sum>(x[place]));
        r.y[place] = static_cast<T>(how.exclusive ? s : next);
        s = next;
      }
    }
  return r;
}

row_layout const layouts[] = {{0, 5, 1},    {3, 0, 1},     {2, 0, 3},     {5, 1, 1},    {7, 15, 1},
                              {9, 16, 1},   {4, 17, 1},    {3, 63, 1},    {200, 64, 1}, {3, 511, 1},
                              {2, 512, 1},  {2, 513, 1},   {1, 1100, 1},  {1, 8191, 1}, {2, 8192, 1},
                              {2, 8193, 1}, {1, 40011, 1}, {70, 9000, 1}, {3, 7, 2},    {1, 33, 7},
                              {2, 9, 255},  {1, 5, 2047},  {1, 4, 2048},  {2, 3, 2049}, {1, 3, 9001}};

scan_direction const ways[] = {{false, false}, {true, false}, {false, true}, {true, true}};

template <reduction How, class T, class Value, class Combine>
void check(accumulator_of_t<T> first, Value const& value, Combine const& combined) {
  using sum = accumulator_of_t<T>;
  for (row_layout const& rows : layouts)
    for (scan_direction how : ways) {
      INFO(rows.outer, " x ", rows.length, " x ", rows.step, " exclusive ", how.exclusive, " reverse ", how.reverse);
      std::vector<T> x(static_cast<std::size_t>(rows.size()));
      for (std::size_t k = 0; k < x.size(); ++k) x[k] = value(k);
      auto const n = static_cast<std::size_t>(rows.count());
      std::vector<sum> const nothing(n, identity<sum>(How)), start(n, first);
      auto const plain = by_loops(rows, how, x, nothing, combined), given = by_loops(rows, how, x, start, combined);
      std::vector<T> y(x.size(), T(99.0f)), own = x;
      std::vector<sum> totals(n, sum(99)), alone = totals;
      scan_rows<How>(exec_space(), rows, how, x.data(), y.data(), static_cast<sum const*>(nullptr),
                     static_cast<sum*>(nullptr));
      CHECK(y == plain.y);
      scan_rows<How>(exec_space(), rows, how, own.data(), own.data(), start.data(), totals.data());
      CHECK(own == given.y);
      CHECK(totals == given.totals);
      scan_rows<How>(exec_space(), rows, how, x.data(), static_cast<T*>(nullptr), start.data(), alone.data());
      CHECK(alone == given.totals);
    }
}

auto const plus = [](auto a, auto b) { return static_cast<decltype(a)>(a + b); };
auto const larger = [](auto a, auto b) { return a < b ? b : a; };
auto const smaller = [](auto a, auto b) { return b < a ? b : a; };

// Neither monotone nor large, so that 16 bits hold every sum.
template <class T>
T small_number(std::size_t k) {
  return T(static_cast<float>(static_cast<int>(k * 7 % 11) - 5));
}

}  // namespace

TEST_CASE("running sums of all element types") {
  check<reduction::sum, double>(3, small_number<double>, plus);
  check<reduction::sum, float>(3, small_number<float>, plus);
  check<reduction::sum, ostraka::float16>(3, small_number<ostraka::float16>, plus);
  check<reduction::sum, ostraka::bfloat16>(3, small_number<ostraka::bfloat16>, plus);
  check<reduction::sum, std::int8_t>(3, small_number<std::int8_t>, plus);
  check<reduction::sum, std::int16_t>(3, small_number<std::int16_t>, plus);
  check<reduction::sum, std::int32_t>(3, small_number<std::int32_t>, plus);
  check<reduction::sum, std::int64_t>(
      3, [](std::size_t k) { return std::int64_t(k) << 24; }, plus);
  using complex = Kokkos::complex<double>;
  check<reduction::sum, complex>(
      complex(3), [](std::size_t k) { return complex(double(k % 5), -double(k % 3)); }, plus);
}

TEST_CASE("running products and extremes") {
  auto const times = [](auto a, auto b) { return a * b; };
  auto const signs = [](std::size_t k) { return k % 97 == 5 ? 2.0 : k % 97 == 6 ? 0.5 : k % 3 == 0 ? -1.0 : 1.0; };
  check<reduction::prod, double>(2, signs, times);
  check<reduction::max, float>(-3, small_number<float>, larger);
  check<reduction::min, std::int16_t>(-2, small_number<std::int16_t>, smaller);
  check<reduction::max, std::int64_t>(
      -7, [](std::size_t k) { return std::int64_t(k % 1000 * k % 777); }, larger);
}

TEST_CASE("a NaN and an infinity stay from where they are, and nowhere before") {
  double const inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  for (std::int64_t step : {1, 3})
    for (std::int64_t at : {0, 1, 15, 16, 500, 8192, 9000}) {
      row_layout const rows{1, 9100, step};
      std::vector<double> x(static_cast<std::size_t>(rows.size()), 1.0), y = x;
      for (double bad : {inf, nan}) {
        x[static_cast<std::size_t>(at * step)] = bad;
        scan_rows<reduction::sum>(exec_space(), rows, {}, x.data(), y.data(), static_cast<double const*>(nullptr),
                                  static_cast<double*>(nullptr));
        for (std::int64_t k = 0; k < rows.length; ++k) {
          double const s = y[static_cast<std::size_t>(k * step)];
          CHECK((k < at ? s == double(k + 1) : bad == inf ? s == inf : s != s));
        }
      }
    }
}

TEST_CASE("sums of real numbers") {
  std::mt19937_64 draw(11);
  std::uniform_real_distribution<float> any(0, 1);
  for (std::int64_t length : {100, 8192, 300001})
    for (std::int64_t step : {1, 2}) {
      row_layout const rows{1, length, step};
      std::vector<float> x(static_cast<std::size_t>(rows.size())), y = x;
      for (float& v : x) v = any(draw);
      scan_rows<reduction::sum>(exec_space(), rows, {}, x.data(), y.data(), static_cast<float const*>(nullptr),
                                static_cast<float*>(nullptr));
      double exact = 0, worst = 0;
      for (std::int64_t k = 0; k < length; ++k) {
        exact += static_cast<double>(x[static_cast<std::size_t>(k * step)]);
        worst = std::max(worst, std::abs(static_cast<double>(y[static_cast<std::size_t>(k * step)]) - exact) / exact);
      }
      // An addition after the other rounds `length` times; along a row a fourth of a piece, where what rounds up and
      // what rounds down leave less than a fourth of that, and once a piece.
      double const additions = step == 1 ? 8192 / 16 + static_cast<double>(length) / 8192 + 16 : double(length);
      CHECK(worst <= additions * std::numeric_limits<float>::epsilon());
    }
}
