// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// @file
/// Runs of neighbours, which compilers vectorise if they know that elements are independent, against one element at
/// a time: maps by functions that cannot throw and that may, updates, and rounding to 16 bits; of every length up to
/// some vectors, of elements that are classes, too, and in place.
// ranks: 1
// labels: essential
// sham:
#include <doctest/doctest.h>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include <ostraka/engine/kernels/elementwise.hpp>
#include <ostraka/engine/kernels/loops/narrow_runs.hpp>
#include <ostraka/engine/kernels/scaled_update.hpp>

#include "support/instances.hpp"

namespace {

using namespace ostraka::engine;
using ostraka::accumulator_of_t, ostraka::bfloat16, ostraka::float16;
using exec_space = Kokkos::DefaultHostExecutionSpace;

constexpr std::int64_t longest = 150;  // some vectors of any element, and a rest

/// Small numbers that every type holds, each different from its neighbours.
template <class T>
std::vector<T> numbers(std::int64_t n, int seed) {
  std::vector<T> x(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = T(static_cast<float>((static_cast<int>(i) * 7 + seed) % 23 - 11));
  return x;
}

struct certain {
  template <class T>
  T operator()(T const& x, T const& y) const noexcept {
    return T(x * y + x);
  }
};

struct doubtful {
  template <class T>
  T operator()(T const& x, T const& y) const {
    return T(x * y + x);
  }
};

/// One element after another, each of which the compiler must keep.
template <class T, class F>
std::vector<T> one_by_one(std::int64_t n, F const& f) {
  std::vector<T> result(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) {
    asm volatile("" ::: "memory");
    result[static_cast<std::size_t>(i)] = f(static_cast<std::size_t>(i));
  }
  return result;
}

template <class T, class F>
void check_map(F const& f, std::int64_t n, bool in_place) {
  std::vector<T> x = numbers<T>(n, 3);
  std::vector<T> const y = numbers<T>(n, 5);
  std::vector<T> const expected = one_by_one<T>(n, [&](std::size_t i) { return T(x[i] * y[i] + x[i]); });
  std::vector<T> elsewhere(static_cast<std::size_t>(n));
  std::vector<T>& result = in_place ? x : elsewhere;
  loop_nest<3> loops;
  loops.add(n, 1, 1, 1);
  map_elements(exec_space(), loops, f, result.data(), static_cast<T const*>(x.data()), y.data());
  CHECK(result == expected);
}

TEST_CASE_TEMPLATE("maps of every length, by functions that throw nothing and that may", T, float, double, std::int32_t,
                   std::int8_t, Kokkos::complex<float>, Kokkos::complex<double>, float16, bfloat16) {
  for (std::int64_t n = 0; n <= longest; ++n)
    for (bool const in_place : {false, true}) {
      check_map<T>(certain{}, n, in_place);
      check_map<T>(doubtful{}, n, in_place);
    }
}

TEST_CASE("what a function throws arrives") {
  std::vector<float> const x = numbers<float>(longest, 1);
  std::vector<float> y(x.size());
  loop_nest<2> loops;
  loops.add(longest, 1, 1);
  auto const f = [](float v) { return v < 11 ? v : throw std::domain_error("eleven"); };
  CHECK_THROWS_AS(map_elements(exec_space(), loops, f, y.data(), x.data()), std::domain_error);
}

TEST_CASE_TEMPLATE("c <- alpha x + beta c along runs and with gaps", T, float, double, std::int32_t,
                   Kokkos::complex<double>, float16, bfloat16) {
  using wide = accumulator_of_t<T>;
  for (std::int64_t n = 0; n <= longest; ++n)
    for (std::int64_t const step : {1, 3})
      for (int const alpha : {0, 1, 2})
        for (int const beta : {0, 1, 3}) {
          std::vector<wide> const x = numbers<wide>(n, 2);
          std::vector<T> c = numbers<T>(n * step, 4);
          std::vector<T> const before = c;
          update<T>{wide(alpha), wide(beta)}.write(c.data(), step, x.data(), n);
          CHECK(c == one_by_one<T>(n * step, [&](std::size_t i) {
                  std::size_t const k = i / static_cast<std::size_t>(step);
                  if (i % static_cast<std::size_t>(step) != 0) return before[i];
                  return T(wide(alpha) * x[k] + wide(beta) * wide(before[i]));
                }));
        }
}

TEST_CASE_TEMPLATE("runs of 16 bits, widened and rounded", T, float16, bfloat16) {
  for (std::int64_t n = 0; n <= longest; ++n) {
    std::vector<T> const x = numbers<T>(n, 6);
    std::vector<float> wide(x.size());
    detail::widen_run(x.data(), wide.data(), n);
    CHECK(wide == one_by_one<float>(n, [&](std::size_t i) { return static_cast<float>(x[i]); }));
    for (float& w : wide) w = w / 3;
    std::vector<T> narrow(x.size()), written(x.size());
    detail::narrow_run(wide.data(), narrow.data(), n);
    detail::write_elements<float>(written.data(), n,
                                  [&wide](std::int64_t i) { return wide[static_cast<std::size_t>(i)]; });
    std::vector<T> const expected = one_by_one<T>(n, [&](std::size_t i) { return T(wide[i]); });
    CHECK(narrow == expected);
    CHECK(written == expected);
  }
}

}  // namespace
