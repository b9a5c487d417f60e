// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Functions of one element against the standard library's in long double: random numbers of all sizes, zeros,
/// infinities, NaN, the ends of the range; of tensors, of numbers and by os::map; of 16 bits and of integers.
// ranks: 1 4
// labels: essential
// sham:

#include <doctest/doctest.h>

#include <ostraka/operations.hpp>

#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

using exact = long double;

// Numbers of both signs and all sizes, more of them near one, and the critical arguments of the functions.
template <class T>
std::vector<T> numbers() {
  using limits = std::numeric_limits<T>;
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> exponent(-1, 1), fraction(-1, 1);
  double const range = limits::max_exponent;
  std::vector<T> x = {T(0.f),
                      -T(0.f),
                      limits::infinity(),
                      -limits::infinity(),
                      limits::quiet_NaN(),
                      limits::max(),
                      limits::lowest(),
                      limits::min(),
                      limits::denorm_min(),
                      T(0.5f),
                      T(1.5f),
                      T(2.5f),
                      -T(0.5f)};
  for (int i = 0; i < 4000; ++i) {
    double const scale = std::exp2(i % 4 == 0 ? (range - 1) * exponent(random) : i % 4 == 1 ? 6 * exponent(random) : 2);
    x.push_back(T(fraction(random) * scale));
  }
  return x;
}

// The distance of a result from the exact one, in units of its last place; 0 if both are NaN, or both beyond the range.
template <class T>
double ulps(T result, exact want) {
  using limits = std::numeric_limits<T>;
  constexpr double off = 1e9;
  auto const got = static_cast<double>(result), largest = static_cast<double>(limits::max());
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got) ? 0 : off;
  if (std::isinf(got) || std::isinf(want))
    return std::signbit(got) == std::signbit(want) && std::abs(want) > 0.999L * largest ? 0 : off;
  int const exponent = std::max(want == 0 ? limits::min_exponent : std::ilogb(want) + 1, limits::min_exponent);
  return static_cast<double>(std::abs(got - want) / std::ldexp(exact(1), exponent - limits::digits));
}

auto test_mesh() { return os::make_mesh(X = t::ranks()); }

// f of a tensor of such numbers, of each number and by os::map: all agree, within so many units of `of`, times `units`
// of the number.
template <class T, class F, class Of, class Units>
void check(std::string const& name, double most, F const& f, Of const& of, Units const& units) {
  std::vector<T> const x = numbers<T>();
  auto const mesh = test_mesh();
  auto const a = os::scatter_from_root<T, I/X>(mesh, I = static_cast<std::int64_t>(x.size()), x);
  auto const of_tensor = t::host_block(f(a));
  auto const of_map = t::host_block(os::map(f, a));
  double worst = 0, worst_at = 0;
  std::int64_t different = 0;
  for (std::size_t k = 0; k < a.local().extent(0); ++k) {
    T const number = x[static_cast<std::size_t>(a.global_offset(I)) + k];
    T const got = of_tensor(k), mapped = of_map(k), single = f(number);
    different += (got == mapped || (got != got && mapped != mapped)) ? 0 : 1;
    auto const at = static_cast<double>(number);
    exact const want = of(static_cast<exact>(at));
    double const off = std::max(ulps<T>(got, want), ulps<T>(single, want)) / units(at);
    if (off > worst) worst = off, worst_at = at;
  }
  INFO(name, " of ", worst_at, " is off by ", worst);
  CHECK(worst <= most);
  CHECK(different == 0);
}

template <class T, class F, class Of>
void check(std::string const& name, double most, F const& f, Of const& of) {
  check<T>(name, most, f, of, [](double) { return 1.0; });
}

exact two_u(exact x) { return std::sqrt(8 / std::acos(exact(-1))) * (x + 0.044715L * x * x * x); }

exact exact_sigmoid(exact x) { return 1 / (1 + std::exp(-x)); }

template <class T>
void check_all() {
  // For 16 bits the float is as good as exact: half a unit.
  double const one = os::is_narrow<T> ? 0.51 : 1, few = os::is_narrow<T> ? 0.51 : 4;
  check<T>("relu", 0, os::relu, [](exact x) { return x < 0 ? 0 : x; });
  check<T>("abs", 0, os::abs, [](exact x) { return std::abs(x); });
  check<T>("square", 0.5, os::square, [](exact x) { return x * x; });
  check<T>("floor", 0, os::floor, [](exact x) { return std::floor(x); });
  check<T>("ceil", 0, os::ceil, [](exact x) { return std::ceil(x); });
  check<T>("round", 0, os::round, [](exact x) { return std::rint(x); });
  check<T>("sqrt", 0.51, os::sqrt, [](exact x) { return std::sqrt(x); });
  check<T>("rsqrt", 2, os::rsqrt, [](exact x) { return 1 / std::sqrt(x); });
  check<T>("exp", few, os::exp, [](exact x) { return std::exp(x); });
  check<T>("expm1", one, os::expm1, [](exact x) { return std::expm1(x); });
  check<T>("log", few, os::log, [](exact x) { return std::log(x); });
  check<T>("log1p", one, os::log1p, [](exact x) { return std::log1p(x); });
  check<T>("erf", few, os::erf, [](exact x) { return std::erf(x); });
  check<T>("tanh", few, os::tanh, [](exact x) { return std::tanh(x); });
  // The rounding of a large argument is many units of a small result: for exp(−x²/2) it is x².
  check<T>("sin", one, os::sin, [](exact x) { return std::sin(x); });
  check<T>("cos", one, os::cos, [](exact x) { return std::cos(x); });
  check<T>("sigmoid", few, os::sigmoid, exact_sigmoid);
  check<T>("silu", few, os::silu, [](exact x) { return x * exact_sigmoid(x); });
  check<T>(
      "gelu", os::is_narrow<T> ? few : 6, os::gelu, [](exact x) { return x / 2 * std::erfc(-x / std::sqrt(exact(2))); },
      [](double x) { return x < 0 ? 1 + x * x / 4 : 1; });
  check<T>(
      "gelu_tanh", few, os::gelu_tanh, [](exact x) { return x * exact_sigmoid(two_u(x)); },
      [](double x) { return x < 0 ? 1 + std::abs(static_cast<double>(two_u(x))) : 1; });
}

}  // namespace

TEST_CASE("float") { check_all<float>(); }
TEST_CASE("double") { check_all<double>(); }
TEST_CASE("float16") { check_all<os::float16>(); }
TEST_CASE("bfloat16") { check_all<os::bfloat16>(); }

TEST_CASE("powers") {
  auto const mesh = test_mesh();
  auto const a =
      os::generate<double, I/X>(mesh, I = 21, [](std::int64_t i) { return 0.25 * static_cast<double>(i); });
  auto const b = os::generate<double, J>(mesh, J = 5, [](std::int64_t j) { return static_cast<double>(j) - 1.5; });
  auto const both = os::pow(a, b);
  auto const to_number = os::pow(a, 3);
  auto const of_number = os::pow(2, b);
  static_assert(std::is_same_v<decltype(both)::sharding_type, os::tensor<double, I/X, J>::sharding_type>);
  for (std::size_t i = 0; i < a.local().extent(0); ++i) {
    double const x = t::host_block(a)(i);
    CHECK(t::host_block(to_number)(i) == std::pow(x, 3.0));
    for (std::size_t j = 0; j < 5; ++j) CHECK(t::host_block(both)(i, j) == std::pow(x, static_cast<double>(j) - 1.5));
  }
  for (std::size_t j = 0; j < 5; ++j) CHECK(t::host_block(of_number)(j) == std::pow(2.0, static_cast<double>(j) - 1.5));
  CHECK(os::pow(2.0f, 0.5f) == std::pow(2.0f, 0.5f));
  CHECK(float(os::value(os::pow(os::full<os::float16>(mesh, 3), 2))) == 9);
}

TEST_CASE("clamp") {
  auto const mesh = test_mesh();
  auto const a = os::generate<float, I/X>(mesh, I = 20, [](std::int64_t i) { return static_cast<float>(i) - 10; });
  auto const c = os::clamp(a, -2.5, 3);
  for (std::size_t i = 0; i < a.local().extent(0); ++i) {
    float const x = t::host_block(a)(i);
    CHECK(t::host_block(c)(i) == (x < -2.5f ? -2.5f : x > 3 ? 3.0f : x));
  }
  float const nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(std::isnan(os::clamp(nan, 0.0f, 1.0f)));
  CHECK(os::value(os::clamp(os::full<std::int8_t>(mesh, -100), -7, 7)) == -7);
  CHECK(os::clamp(9, 0, 5) == 5);
}

TEST_CASE("integers") {
  auto const mesh = test_mesh();
  auto const a = os::generate<std::int16_t, I/X>(
      mesh, I = 20, [](std::int64_t i) { return static_cast<std::int16_t>(7 * i - 60); });
  auto const r = os::relu(a);
  auto const m = os::abs(a);
  auto const s = os::square(a);
  auto const f = os::floor(a);
  auto const n = os::isnan(a);
  auto const y = os::isfinite(a);
  static_assert(std::is_same_v<decltype(n)::value_type, bool>);
  for (std::size_t i = 0; i < a.local().extent(0); ++i) {
    int const x = t::host_block(a)(i);
    CHECK(t::host_block(r)(i) == std::max(x, 0));
    CHECK(t::host_block(m)(i) == std::abs(x));
    CHECK(t::host_block(s)(i) == x * x);
    CHECK(t::host_block(f)(i) == x);
    CHECK(!t::host_block(n)(i));
    CHECK(t::host_block(y)(i));
  }
  CHECK(os::relu(-3) == 0);
  CHECK(os::abs(-3) == 3);
}

TEST_CASE("what is no number, or infinite") {
  auto const mesh = test_mesh();
  auto const x = numbers<float>();
  auto const a = os::scatter_from_root<float, I/X>(mesh, I = static_cast<std::int64_t>(x.size()), x);
  auto const n = os::isnan(a);
  auto const f = os::isfinite(a);
  auto const of = t::host_block(a);
  auto const is_nan = t::host_block(n), is_finite = t::host_block(f);
  for (std::size_t i = 0; i < of.extent(0); ++i) {
    CHECK(is_nan(i) == std::isnan(of(i)));
    CHECK(is_finite(i) == std::isfinite(of(i)));
  }
  using complex = Kokkos::complex<double>;
  double const infinity = std::numeric_limits<double>::infinity();
  CHECK(!os::isfinite(complex(1, infinity)));
  CHECK(os::isnan(complex(infinity - infinity, 1)));
  CHECK(os::isfinite(os::float16(1.f)));
}

TEST_CASE("complex numbers") {
  auto const mesh = test_mesh();
  using complex = std::complex<double>;
  auto const at = [](std::int64_t i) {
    return Kokkos::complex<double>(static_cast<double>(i) / 4 - 1, 2 - static_cast<double>(i) / 3);
  };
  auto const a = os::generate<complex, I/X>(mesh, I = 12, at);
  auto const check = [&](auto const& got, auto const& of) {
    for (std::size_t i = 0; i < a.local().extent(0); ++i) {
      complex const z(t::host_block(a)(i).real(), t::host_block(a)(i).imag()), want = of(z);
      complex const value(t::host_block(got)(i).real(), t::host_block(got)(i).imag());
      CHECK(std::abs(value - want) <= 1e-14 * (1 + std::abs(want)));
    }
  };
  check(os::square(a), [](complex z) { return z * z; });
  check(os::exp(a), [](complex z) { return std::exp(z); });
  check(os::log(a), [](complex z) { return std::log(z); });
  check(os::sqrt(a), [](complex z) { return std::sqrt(z); });
  check(os::sin(a), [](complex z) { return std::sin(z); });
  check(os::cos(a), [](complex z) { return std::cos(z); });
  check(os::tanh(a), [](complex z) { return std::tanh(z); });
  auto const modulus = os::abs(a);
  static_assert(std::is_same_v<decltype(modulus)::value_type, double>);
  for (std::size_t i = 0; i < a.local().extent(0); ++i)
    CHECK(t::host_block(modulus)(i) ==
          doctest::Approx(std::hypot(t::host_block(a)(i).real(), t::host_block(a)(i).imag())));
  check(os::conj(a), [](complex z) { return std::conj(z); });
  auto const real = os::real(a), imag = os::map(os::imag, a);
  static_assert(std::is_same_v<decltype(real)::value_type, double>);
  for (std::size_t i = 0; i < a.local().extent(0); ++i) {
    CHECK(t::host_block(real)(i) == t::host_block(a)(i).real());
    CHECK(t::host_block(imag)(i) == t::host_block(a)(i).imag());
  }
  // parts give parts
  auto const sum = os::sum<os::partial(X)>(a);
  double const want = os::value(os::sum<>(os::imag(a)));
  CHECK(os::value(os::all_reduce<X>(os::imag(os::conj(sum)))) == doctest::Approx(-want));
  CHECK(os::value(os::all_reduce<X>(os::real(sum))) == doctest::Approx(os::value(os::sum<>(real))));
}

TEST_CASE("parts and conjugates of numbers, and of real ones") {
  Kokkos::complex<float> const z(2, -3);
  CHECK(os::real(z) == 2);
  CHECK(os::imag(z) == -3);
  CHECK(os::conj(z) == Kokkos::complex<float>(2, 3));
  CHECK(os::real(-2.5) == -2.5);
  CHECK(os::imag(-2.5) == 0);
  CHECK(os::conj(os::bfloat16(2.f)) == os::bfloat16(2.f));
  CHECK(os::imag(7) == 0);
  auto const a = os::full<double, I / X>(test_mesh(), I = 5, -3);
  CHECK(os::value(os::sum<>(os::real(a) + os::imag(a) + os::conj(a))) == -30);
}

// Monotone functions keep the parts of maxima, products keep the modulus of factors.
TEST_CASE("partial tensors") {
  auto const mesh = test_mesh();
  auto const a =
      os::generate<double, I/X>(mesh, I = 13, [](std::int64_t i) { return static_cast<double>(5 * i % 13) / 4 - 1; });
  auto const largest = os::max<os::partial_max(X)>(a);
  double const top = 12.0 / 4 - 1;
  CHECK(os::value(os::all_reduce<X>(os::relu(largest))) == top);
  CHECK(os::value(os::all_reduce<X>(os::exp(largest))) == os::exp(top));
  CHECK(os::value(os::all_reduce<X>(os::map(os::tanh, largest))) == os::tanh(top));
  CHECK(os::value(os::all_reduce<X>(os::clamp(largest, -1, 1))) == 1);
  auto const factors = os::prod<os::partial_prod(X)>(os::full<double, I/X>(mesh, I = 3, -2));
  CHECK(os::value(os::all_reduce<X>(os::abs(factors))) == 8);
  CHECK(os::value(os::all_reduce<X>(os::square(factors))) == 64);
}

TEST_CASE("blocks") {
  auto const mesh = test_mesh();
  auto const a = os::generate<float, I/X>(mesh, I = 13, [](std::int64_t i) { return static_cast<float>(i) - 6; });
  auto const got = os::shard_map<I/X>([](auto x) { return os::gelu(x) + os::clamp(x, 0, 1); }, a);
  for (std::size_t i = 0; i < a.local().extent(0); ++i)
    CHECK(t::host_block(got)(i) == os::gelu(t::host_block(a)(i)) + os::clamp(t::host_block(a)(i), 0.0f, 1.0f));
}
