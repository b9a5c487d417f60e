// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Deferred reduction: a weight's gradient over many steps, each a partial sum that stays where it is, and one
/// all-reduce at the end. G[K, N] {U_X} += x[M_X, K] · dy[M_X, N], then G[K, N]; the block in docs/design/partials.md
/// is the one below.
// sham:

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

OSTRAKA_AXIS(M);
OSTRAKA_AXIS(N);

namespace {

struct whole {
  int salt;
  KOKKOS_FUNCTION double operator()(std::int64_t i, std::int64_t j) const {
    return static_cast<double>((i * 5 + j * 3 + salt * 7) % 11 - 5);
  }
};

whole input(int step) { return {step}; }
whole error(int step) { return {100 + step}; }

constexpr int steps = 7;
constexpr std::int64_t n = 5;

double gradient_by_loops(std::int64_t rows, std::int64_t row, std::int64_t column) {
  double sum = 0;
  for (int step = 0; step < steps; ++step)
    for (std::int64_t m = 0; m < rows; ++m) sum += input(step)(m, row) * error(step)(m, column);
  return sum;
}

template <class Gradient>
std::int64_t wrong_elements(Gradient const& g, std::int64_t rows) {
  auto const local = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), g.local());
  std::int64_t wrong = 0;
  for (std::size_t i = 0; i < local.extent(0); ++i)
    for (std::size_t j = 0; j < local.extent(1); ++j)
      wrong += local(i, j) == gradient_by_loops(rows, g.global_offset(K) + static_cast<std::int64_t>(i),
                                                g.global_offset(N) + static_cast<std::int64_t>(j))
                   ? 0
                   : 1;
  return wrong;
}

// 2(p − 1) blocks, once.
std::int64_t bytes_of_one_all_reduce(std::int64_t k) {
  return 2 * (t::ranks() - 1) * k * n * static_cast<std::int64_t>(sizeof(double));
}

}  // namespace

TEST_CASE("many steps, one all-reduce") {
  auto const mesh = os::make_mesh(X = t::ranks());
  for (std::int64_t const rows : {24, 7, 1, 0})
    for (std::int64_t const k : {8, 3, 0}) {
      CAPTURE(rows);
      CAPTURE(k);
      std::int64_t wrong = -1;
      t::traffic const moved = t::traffic_of([&] {
  auto gradient = os::zeros<double, K, N, os::partial(X)>(mesh, K = k, N = n);
  for (int step = 0; step < steps; ++step) {
    auto const x = os::generate<double, M / X, K>(mesh, M = rows, K = k, input(step));
    auto const dy = os::generate<double, M / X, N>(mesh, M = rows, N = n, error(step));
    gradient = os::add(gradient, os::einsum<K, N, os::partial(X)>(x, dy));  // local
  }
  auto const sum = os::all_reduce<X>(gradient);  // the only communication
        wrong = wrong_elements(sum, rows);
      });
      CHECK(wrong == 0);
      CHECK(moved.bytes == bytes_of_one_all_reduce(k));
    }
}

TEST_CASE("without a temporary, and scattered at the end") {
  auto const mesh = os::make_mesh(X = t::ranks());
  for (std::int64_t const rows : {24, 7, 0}) {
    std::int64_t const k = 9;
    auto const gradient = os::zeros<double, K, N, os::partial(X)>(mesh, K = k, N = n);
    t::traffic const steps_moved = t::traffic_of([&] {
      for (int step = 0; step < steps; ++step) {
        auto const x = os::generate<double, M / X, K>(mesh, M = rows, K = k, input(step));
        auto const dy = os::generate<double, M / X, N>(mesh, M = rows, N = n, error(step));
        os::einsum_into(gradient, x, dy, os::beta = 1);
      }
    });
    CHECK(steps_moved.calls == 0);
    std::int64_t wrong = -1;
    t::traffic const moved = t::traffic_of([&] { wrong = wrong_elements(os::reduce_scatter<K / X>(gradient), rows); });
    CHECK(wrong == 0);
    CHECK(moved.bytes == bytes_of_one_all_reduce(k) / 2);
  }
}

TEST_CASE("a step that is reduced each time moves as much as all of them") {
  auto const mesh = os::make_mesh(X = t::ranks());
  std::int64_t const rows = 12;
  std::int64_t const k = 4;
  t::traffic const moved = t::traffic_of([&] {
    for (int step = 0; step < steps; ++step) {
      auto const x = os::generate<double, M / X, K>(mesh, M = rows, K = k, input(step));
      auto const dy = os::generate<double, M / X, N>(mesh, M = rows, N = n, error(step));
      static_cast<void>(os::all_reduce<X>(os::einsum<K, N, os::partial(X)>(x, dy)));
    }
  });
  CHECK(moved.bytes == steps * bytes_of_one_all_reduce(k));
}

TEST_CASE("maxima wait, too") {  // the largest magnitude over all steps, for a scale: reduced once
  auto const mesh = os::make_mesh(X = t::ranks());
  std::int64_t const rows = 11;
  double wanted = -std::numeric_limits<double>::infinity();
  for (int step = 0; step < steps; ++step)
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < n; ++j) wanted = std::max(wanted, input(step)(i, j));
  double got = 0;
  t::traffic const moved = t::traffic_of([&] {
    os::tensor<double, os::partial_max(X)> largest;
    for (int step = 0; step < steps; ++step) {
      auto const y = os::generate<double, M / X, N>(mesh, M = rows, N = n, input(step));
      auto const here = os::max<os::partial_max(X)>(y);
      largest = step == 0 ? here : os::maximum(largest, here);
    }
    got = os::value(os::all_reduce<X>(largest));
  });
  CHECK(got == wanted);
  CHECK(moved.bytes == 2 * (t::ranks() - 1) * static_cast<std::int64_t>(sizeof(double)));
}
