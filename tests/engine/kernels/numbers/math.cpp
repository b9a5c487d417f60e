// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// exp, log, tanh and erf for loops against the C library's of long doubles: over random patterns, over the ranges of
/// typical programs, at the edges, as compiled by default and for wide vectors.
// ranks: 1
// labels: essential

#include <doctest/doctest.h>

#include <ostraka/engine/kernels/loops/vectors.hpp>
#include <ostraka/engine/kernels/numbers/math.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace engine = ostraka::engine;

namespace {

struct our_exp {
  template <class T>
  T operator()(T x) const {
    return engine::exp(x);
  }
  static long double exact(long double x) { return std::exp(x); }
};
struct our_log {
  template <class T>
  T operator()(T x) const {
    return engine::log(x);
  }
  static long double exact(long double x) { return std::log(x); }
};
struct our_tanh {
  template <class T>
  T operator()(T x) const {
    return engine::tanh(x);
  }
  static long double exact(long double x) { return std::tanh(x); }
};
struct our_erf {
  template <class T>
  T operator()(T x) const {
    return engine::erf(x);
  }
  static long double exact(long double x) { return std::erf(x); }
};

// The error in units in the last place of the exact value, at least those of the smallest normal number.
template <class T>
long double distance(T got, long double exact) {
  using limits = std::numeric_limits<T>;
  long double const wrong = std::numeric_limits<long double>::infinity();
  if (std::isnan(exact)) return std::isnan(got) ? 0 : wrong;
  auto const nearest = static_cast<T>(exact);
  if (std::isinf(nearest) || std::isinf(got)) return got == nearest ? 0 : wrong;
  if (got == 0 && nearest == 0) return std::signbit(got) == std::signbit(nearest) ? 0 : wrong;
  int exponent = 0;
  std::frexp(exact, &exponent);
  exponent = std::max(exponent, limits::min_exponent) - limits::digits;
  return std::abs(static_cast<long double>(got) - exact) / std::ldexp(1.0L, exponent);
}

template <class T>
std::vector<T> arguments() {
  using bits = typename engine::detail::math_constants<T>::bits;
  using limits = std::numeric_limits<T>;
  std::mt19937_64 random(15);
  std::vector<T> x;
  for (int i = 0; i < 40000; ++i) x.push_back(__builtin_bit_cast(T, static_cast<bits>(random())));
  T const ranges[][2] = {{-760, 720}, {-110, 95}, {-20, 20}, {-1, 1}, {T(0.5), T(2)}, {T(-1e-5), T(1e-5)}};
  for (auto const& range : ranges) {
    std::uniform_real_distribution<T> within(range[0], range[1]);
    for (int i = 0; i < 30000; ++i) x.push_back(within(random));
  }
  // Edges where another formula or range begins, and where results leave the normal numbers.
  for (T const edge : {T(0),
                       T(1),
                       T(0.625),
                       T(0.875),
                       T(4),
                       T(5.95),
                       T(0.34657359027997264),
                       T(0.70710678118654752),
                       T(1.4142135623730951),
                       T(87.336544),
                       T(88.722839),
                       T(89),
                       T(103.27893),
                       T(103.972077),
                       T(104),
                       T(708.39641853226408),
                       T(709.78271289338397),
                       T(710),
                       T(744.4400719213812),
                       T(745.13321910194111),
                       T(746),
                       limits::min(),
                       limits::denorm_min(),
                       limits::max(),
                       limits::infinity(),
                       limits::quiet_NaN(),
                       limits::epsilon()})
    for (T const sign : {T(1), T(-1)}) {
      T const up = std::nextafter(edge, limits::infinity()), down = std::nextafter(edge, -limits::infinity());
      for (T const at : {edge, up, down}) x.push_back(std::copysign(T(1), sign) * at);
    }
  return x;
}

template <class T, class F>
void check(char const* name, F f) {
  std::vector<T> const x = arguments<T>();
  std::int64_t const count = static_cast<std::int64_t>(x.size());
  std::vector<T> plain(x.size()), wide(x.size());
  auto const loop = [f, count, from = x.data()](T* to) {
    for (std::int64_t i = 0; i < count; ++i) to[i] = f(from[i]);
  };
  loop(plain.data());
  engine::detail::with_wide_vectors([&] { loop(wide.data()); });
  long double worst[2] = {0, 0};
  T at[2] = {0, 0};
  for (std::size_t i = 0; i < x.size(); ++i) {
    long double const exact = F::exact(x[i]);
    T const got[2] = {plain[i], wide[i]};
    for (int k = 0; k < 2; ++k) {
      long double const far = distance(got[k], exact);
      if (far <= worst[k]) continue;
      worst[k] = far;
      at[k] = x[i];
    }
  }
  for (int k = 0; k < 2; ++k) {
    INFO(name, " of ", sizeof(T), " bytes at ", at[k], k == 0 ? "" : ", wide vectors", ": ",
         static_cast<double>(worst[k]));
    CHECK(worst[k] <= 2);
  }
}

}  // namespace

TEST_CASE_TEMPLATE("functions for loops are within two units in the last place", T, float, double) {
  check<T>("exp", our_exp{});
  check<T>("log", our_log{});
  check<T>("tanh", our_tanh{});
  check<T>("erf", our_erf{});
}

TEST_CASE_TEMPLATE("whole results are exact", T, float, double) {
  using limits = std::numeric_limits<T>;
  CHECK(engine::exp(T(0)) == 1);
  CHECK(engine::exp(-limits::infinity()) == 0);
  CHECK(engine::log(T(1)) == 0);
  CHECK(engine::log(T(0)) == -limits::infinity());
  CHECK(engine::tanh(T(100)) == 1);
  CHECK(engine::tanh(-limits::infinity()) == -1);
  CHECK(engine::erf(T(100)) == 1);
  CHECK(engine::erf(-limits::infinity()) == -1);
}
