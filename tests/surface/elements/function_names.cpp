// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// os::map, os::map_into, os::generate and os::stencil of a function by its name, against the function called in a
/// loop, and functions of a program that are called as the library's are.
// ranks: 1 2 4

#include <doctest/doctest.h>

#include <cstdint>

#include <ostraka/operations.hpp>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

double of_indices(std::int64_t i, std::int64_t j) { return static_cast<double>(3 * i - 2 * j) / 4; }
double of_index(std::int64_t i) { return static_cast<double>(i * i); }
double of_one(double x) { return x * x - 1; }
float of_two(double x, double y) { return static_cast<float>(x / 2 - y); }
double around(os::neighbours<double, 1> const& u) { return u(-1) - 2 * u(0) + u(1); }

struct program {
  // A program's own functions, which an unqualified call finds beside those of the tensor's namespace.
  template <class A>
  static int own(A const& a);
};

}  // namespace

template <class A>
int all(A const&) {
  return 1;
}
template <class A>
int sum(A const&) {
  return 2;
}
template <class A>
int variance(A const&) {
  return 3;
}
template <class A>
int argmax(A const&) {
  return 4;
}

template <class A>
int program::own(A const& a) {
  return 1000 * all(a) + 100 * sum(a) + 10 * variance(a) + argmax(a);
}

TEST_CASE("a function's name is a function") {
  auto const mesh = os::make_mesh(X = t::ranks());
  for (std::int64_t n : {0, 1, 2, 3, 7}) {
    auto const a = os::generate<double, I/X, J>(mesh, I = n, J = 3, of_indices);
    auto const b = os::generate<double, I/X>(mesh, I = n, &of_index);
    auto const squares = os::map(of_one, a);
    auto const both = os::map(&of_two, a, b);
    auto const into = os::copy(a);
    os::map_into(into, of_one, into);
    int wrong = 0;
    std::int64_t const first = a.global_offset(I);
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(a.local().extent(0)); ++i)
      for (std::int64_t j = 0; j < 3; ++j) {
        double const x = of_indices(first + i, j);
        wrong += a.local()(i, j) != x;
        wrong += b.local()(i) != of_index(first + i);
        wrong += squares.local()(i, j) != of_one(x);
        wrong += both.local()(i, j) != of_two(x, of_index(first + i));
        wrong += into.local()(i, j) != of_one(x);
      }
    CHECK(wrong == 0);
  }
}

TEST_CASE("a stencil takes a function's name") {
  auto const mesh = os::make_mesh(X = t::ranks());
  std::int64_t const n = 3 * t::ranks();
  auto const a = os::generate<double, I/X>(mesh, I = n, of_index);
  auto const second = os::shard_map<I/X>(
      [](auto const& block) { return os::stencil(around, os::exchange_halo<os::halo<I, 1>/X>(block, os::periodic)); },
      a);
  int wrong = 0;
  std::int64_t const first = a.global_offset(I);
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(a.local().extent(0)); ++i) {
    std::int64_t const at = first + i, before = (at + n - 1) % n, behind = (at + 1) % n;
    wrong += second.local()(i) != of_index(before) - 2 * of_index(at) + of_index(behind);
  }
  CHECK(wrong == 0);
}

TEST_CASE("a program's own functions of the same names are its own") {
  auto const mesh = os::make_mesh(X = t::ranks());
  auto const a = os::generate<double, I/X>(mesh, I = 5, of_index);  // 0, 1, 4, 9, 16
  CHECK(program::own(a) == 1234);
  CHECK(os::value(os::sum<>(a)) == 30);
  CHECK(os::value(os::mean<>(a)) == 6);
  CHECK(os::value(os::variance<>(a, os::ddof(1))) == doctest::Approx(43.5));  // (36 + 25 + 4 + 9 + 100) / 4
  CHECK_FALSE(os::value(os::all<>(a)));
  CHECK(os::value(os::argmax<>(a)) == 4);
}
