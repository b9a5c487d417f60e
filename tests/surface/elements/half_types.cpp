// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Tensors of float16 and bfloat16: made, moved, cast, mapped, reduced and multiplied, against plain loops in doubles.
/// Results are rounded once from sums of floats; where devices add up, each rounds its part first. Bounds: u is half a
/// unit in the last place, relative.
// ranks: 1 2 4
// sham:

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

constexpr std::int64_t rows = 7, inner = 300, columns = 5;

// Exact in 8 bits, of both signs.
double left(std::int64_t i, std::int64_t j) { return static_cast<double>((5 * i + 3 * j) % 23 - 11) / 8; }
double right(std::int64_t j, std::int64_t k) { return static_cast<double>((7 * j + 2 * k) % 19 - 9) / 4; }

// Products of any size are the library's, where the test is linked with one.
[[maybe_unused]] bool const all_by_library = (os::engine::worth_of_bfloat16_library = {0, 0, 2, 0}, true);

template <class T>
struct left_element {
  KOKKOS_INLINE_FUNCTION T operator()(std::int64_t i, std::int64_t j) const {
    return T(float((5 * i + 3 * j) % 23 - 11) / 8);
  }
};
template <class T>
struct right_element {
  KOKKOS_INLINE_FUNCTION T operator()(std::int64_t j, std::int64_t k) const {
    return T(float((7 * j + 2 * k) % 19 - 9) / 4);
  }
};
struct one {
  KOKKOS_INLINE_FUNCTION float operator()(std::int64_t) const { return 1; }
};
struct hundreds_by_column {
  KOKKOS_INLINE_FUNCTION float operator()(std::int64_t, std::int64_t j) const {
    return 100.0f + 100.0f * static_cast<float>(j);
  }
};
struct large_then_ones {
  float large;
  template <class... More>
  KOKKOS_INLINE_FUNCTION float operator()(std::int64_t i, More...) const {
    return i == 0 ? large : 1.0f;
  }
};
struct positive_part {
  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(T x) const {
    return x > 0 ? x : T(0);
  }
};

double product(std::int64_t i, std::int64_t k) {
  double sum = 0;
  for (std::int64_t j = 0; j < inner; ++j) sum += left(i, j) * right(j, k);
  return sum;
}
double magnitude(std::int64_t i, std::int64_t k) {
  double sum = 0;
  for (std::int64_t j = 0; j < inner; ++j) sum += std::abs(left(i, j) * right(j, k));
  return sum;
}

template <class T>
constexpr double u = double(float(std::numeric_limits<T>::epsilon())) / 2;

// One rounding of the exact value, and the floats' own errors, at most 2n of 2^-24 each.
template <class T>
double bound_of_one_rounding(double exact, double size) {
  double const floats = 2 * inner * 0x1p-24 * size;
  return u<T> * (std::abs(exact) + floats) + floats;
}

// The largest ratio of error to bound over the elements that this device has; `expected` and `bound` are functions of
// global indices.
template <class Tensor, class Expected, class Bound>
double worst(Tensor const& c, Expected const& expected, Bound const& bound) {
  double ratio = 0;
  auto const local = t::host_block(c);
  for (std::size_t i = 0; i < local.extent(0); ++i)
    for (std::size_t k = 0; k < local.extent(1); ++k) {
      std::int64_t const gi = c.range(0).begin + static_cast<std::int64_t>(i);
      std::int64_t const gk = c.range(1).begin + static_cast<std::int64_t>(k);
      double const error = std::abs(double(float(local(i, k))) - expected(gi, gk));
      ratio = std::max(ratio, error / bound(gi, gk));
    }
  return ratio;
}

template <class T, class F>
void on_a_line(F const& f) {
  auto const mesh = os::make_mesh(X = t::ranks());
  auto const sizes = os::sizes(I = rows, J = inner, K = columns);
  f(mesh, sizes);
}

}  // namespace

TEST_CASE_TEMPLATE("made, moved, cast and gathered: the bits stay", T, os::float16, os::bfloat16) {
  on_a_line<T>([](auto const& mesh, auto const& sizes) {
    auto const a = os::generate<T, I/X, J>(mesh, sizes, left_element<T>{});
    auto const b = os::reshard<I, J/X>(a);
    auto const exact = [](std::int64_t i, std::int64_t j) { return left(i, j); };
    auto const to_the_bit = [](std::int64_t, std::int64_t) { return 1e-30; };
    CHECK(worst(a, exact, to_the_bit) == 0);
    CHECK(worst(b, exact, to_the_bit) == 0);
    CHECK(worst(os::all_gather<X>(a), exact, to_the_bit) == 0);
    CHECK(worst(os::cast<T>(os::cast<double>(b)), exact, to_the_bit) == 0);
    CHECK(worst(os::cast<os::float16>(os::cast<os::bfloat16>(b)), exact, to_the_bit) == 0);
    CHECK(worst(
              os::cast<std::int32_t>(b), [](std::int64_t i, std::int64_t j) { return std::trunc(left(i, j)); },
              to_the_bit) == 0);
    auto const whole = os::gather_to_root(b);
    if (whole)
      for (std::size_t i = 0; i < std::size_t(rows); ++i)
        CHECK(double(float((*whole)(i, 3))) == left(std::int64_t(i), 3));
    auto const nothing = os::zeros<T, I/X, J>(mesh, sizes);
    CHECK(worst(nothing, [](std::int64_t, std::int64_t) { return 0.0; }, to_the_bit) == 0);
  });
}

// Parts of sums survive a cast that keeps all values: neither type holds the other.
static_assert(os::detail::is_exact<os::float16, float> && os::detail::is_exact<os::bfloat16, float> &&
              os::detail::is_exact<os::float16, double>);
static_assert(!os::detail::is_exact<os::bfloat16, os::float16> && !os::detail::is_exact<os::float16, os::bfloat16> &&
              !os::detail::is_exact<float, os::bfloat16>);

TEST_CASE_TEMPLATE("elementwise: rounded once", T, os::float16, os::bfloat16) {
  on_a_line<T>([](auto const& mesh, auto const& sizes) {
    auto const a = os::generate<T, I, J/X>(mesh, sizes, left_element<T>{});
    auto const bound = [](auto const& exact) {
      return [=](std::int64_t i, std::int64_t j) { return u<T> * std::abs(exact(i, j)) + 1e-30; };
    };
    auto const check = [&](auto const& c, auto const& exact) { CHECK(worst(c, exact, bound(exact)) <= 1); };
    check(os::map(positive_part{}, a), [](std::int64_t i, std::int64_t j) { return std::max(0.0, left(i, j)); });
    check(os::add(a, a), [](std::int64_t i, std::int64_t j) { return 2 * left(i, j); });
    check(os::multiply(a, a), [](std::int64_t i, std::int64_t j) { return left(i, j) * left(i, j); });
    check(os::scale(T(0.75f), a), [](std::int64_t i, std::int64_t j) { return 0.75 * left(i, j); });
    check(os::negate(a), [](std::int64_t i, std::int64_t j) { return -left(i, j); });
    check(os::maximum(a, os::negate(a)), [](std::int64_t i, std::int64_t j) { return std::abs(left(i, j)); });
  });
}

TEST_CASE_TEMPLATE("products", T, os::float16, os::bfloat16) {
  on_a_line<T>([](auto const& mesh, auto const& sizes) {
    auto const exact = [](std::int64_t i, std::int64_t k) { return product(i, k); };
    auto const once = [](std::int64_t i, std::int64_t k) {
      return bound_of_one_rounding<T>(product(i, k), magnitude(i, k));
    };
    // The parts that devices add up are together at most as large as the sum of magnitudes.
    auto const twice = [&](std::int64_t i, std::int64_t k) {
      return once(i, k) + u<T> * (1 + u<T>)*magnitude(i, k) * 1.01;
    };
    auto const a = os::generate<T, I/X, J>(mesh, sizes, left_element<T>{});
    auto const b = os::generate<T, J, K>(mesh, sizes, right_element<T>{});
    CHECK(worst(os::einsum<I/X, K>(a, b), exact, once) <= 1);
    CHECK(worst(os::einsum<I, K>(a, b), exact, once) <= 1);
    auto const a_split = os::reshard<I, J/X>(a);
    auto const b_split = os::slice<J/X>(b);
    CHECK(worst(os::einsum<I, K>(a_split, b_split), exact, twice) <= 1);
    CHECK(worst(os::einsum<I/X, K>(a_split, b_split), exact, twice) <= 1);

    auto const c = os::generate<T, I/X, K>(mesh, sizes, left_element<T>{});
    os::einsum_into(c, a, b, os::alpha = 0.1, os::beta = -0.3f);
    auto const updated = [](std::int64_t i, std::int64_t k) { return 0.1 * product(i, k) - 0.3 * left(i, k); };
    auto const bound = [](std::int64_t i, std::int64_t k) {
      double const size = 0.1 * magnitude(i, k) + 0.3 * std::abs(left(i, k));
      return bound_of_one_rounding<T>(0.1 * product(i, k) - 0.3 * left(i, k), size);
    };
    CHECK(worst(c, updated, bound) <= 1);
  });
}

TEST_CASE_TEMPLATE("reductions", T, os::float16, os::bfloat16) {
  on_a_line<T>([](auto const& mesh, auto const& sizes) {
    auto const a = os::generate<T, I, J/X>(mesh, sizes, left_element<T>{});
    double sum = 0, size = 0, largest = -100, smallest = 100;
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < inner; ++j) {
        sum += left(i, j);
        size += std::abs(left(i, j));
        largest = std::max(largest, left(i, j));
        smallest = std::min(smallest, left(i, j));
      }
    double const floats = 2 * static_cast<double>(rows * inner) * 0x1p-24 * size;
    double const parts = t::ranks() == 1 ? 0 : u<T> * size;
    CHECK(std::abs(double(float(os::value(os::sum<>(a)))) - sum) <= (1 + u<T>)*(floats + parts) + u<T> * std::abs(sum));
    CHECK(double(float(os::value(os::max<>(a)))) == largest);
    CHECK(double(float(os::value(os::min<>(a)))) == smallest);
    double const mean = sum / double(rows * inner);
    CHECK(std::abs(double(float(os::value(os::mean<>(a)))) - mean) <=
          ((1 + u<T>)*(floats + parts) + 2.1 * u<T> * std::abs(sum)) / double(rows * inner));
  });
}

TEST_CASE_TEMPLATE("sums of many are not lost in the last place", T, os::float16, os::bfloat16) {
  auto const mesh = os::make_mesh(X = t::ranks());
  auto const ones = os::generate<T, I/X>(mesh, I = 4096, one{});
  CHECK(float(os::value(os::sum<>(ones))) == 4096);  // one after the other they would stay at 2048 and 256
  CHECK(float(os::value(os::einsum<>(ones, ones))) == 4096);
  CHECK(float(os::value(os::mean<>(ones))) == 1);
}

TEST_CASE_TEMPLATE("a mean whose sum is too large for its type", T, os::float16, os::bfloat16) {
  auto const mesh = os::make_mesh(X = t::ranks());
  auto const a = os::generate<T, I/X, J>(mesh, I = 4096, J = 3, hundreds_by_column{});
  CHECK(float(os::value(os::mean<>(a))) == 200);
  auto const of_columns = t::host_block(os::mean<J>(a));
  for (std::size_t j = 0; j < 3; ++j) CHECK(float(of_columns(j)) == 100 + 100 * static_cast<float>(j));
  CHECK(std::isnan(float(os::value(os::mean<>(os::zeros<T, I/X>(mesh, I = 0))))));
}

TEST_CASE_TEMPLATE("parts of devices are added up as floats", T, os::float16, os::bfloat16) {
  int const n = t::ranks();
  float const large = 2 / float(std::numeric_limits<T>::epsilon());  // and 1 is half a unit in its last place
  auto const mesh = os::make_mesh(X = n);
  auto const a = os::generate<T, I/X>(mesh, I = n, large_then_ones{large});
  T const expected(large + static_cast<float>(n - 1));
  CHECK(os::value(os::sum<>(a)) == expected);
  auto const parts = os::generate<T, I/X, J>(mesh, I = n, J = 2 * n, large_then_ones{large});
  auto const scattered = t::host_block(os::sum<J / X>(parts));
  for (std::size_t j = 0; j < scattered.extent(0); ++j) CHECK(scattered(j) == expected);
}

TEST_CASE_TEMPLATE("random numbers are the same on every mesh", T, os::float16, os::bfloat16) {
  on_a_line<T>([](auto const& mesh, auto const& sizes) {
    auto const whole = os::random<T, I, J>(mesh, sizes, os::seed(3));
    auto const split = os::random<T, I, J/X>(mesh, sizes, os::seed(3));
    auto const expected = [all = t::host_block(whole)](std::int64_t i, std::int64_t j) {
      return double(float(all(std::size_t(i), std::size_t(j))));
    };
    CHECK(worst(split, expected, [](std::int64_t, std::int64_t) { return 1e-30; }) == 0);
  });
}
