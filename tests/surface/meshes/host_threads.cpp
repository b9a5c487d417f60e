// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Host threads that work at the same time, each on a mesh of its own, get the results of one thread alone; a mesh that
/// another thread is using is refused. Compiled with a thread sanitizer, this test shows races (.ci/run, leg
/// sanitizers).
// ranks: 1 2
// labels: essential
#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <exception>
#include <string>
#include <thread>
#include <vector>

#include "support/axes.hpp"
#include "support/on_meshes.hpp"


namespace os = ostraka;

namespace ostraka::testing {
bool uses_several_threads() { return true; }
}  // namespace ostraka::testing

namespace {

constexpr int threads = 3;

auto make_line() { return os::make_mesh(X = os::testing::ranks()); }
using line = decltype(make_line());

// Runs act(t) on `threads` threads at once. @returns the error of the last that failed
template <class Act>
std::string on_threads(Act const& act) {
  std::atomic<int> ready{0};
  std::vector<std::string> thrown(threads);
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t)
    all.emplace_back([&, t] {
      ++ready;
      while (ready < threads) std::this_thread::yield();
      try {
        act(t);
      } catch (std::exception const& e) {
        thrown[static_cast<std::size_t>(t)] = e.what();
      }
    });
  for (std::thread& one : all) one.join();
  std::string what;
  for (std::string const& w : thrown)
    if (!w.empty()) what = w;
  return what;
}

// Counts wrong elements, because doctest's own counting would take most of the time.
template <class Tensor, class Expected>
long wrong_elements(Tensor const& a, Expected const& expected) {
  long wrong = 0;
  auto const rows = a.local().extent(0), columns = a.local().extent(1);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j)
      wrong += a.local()(i, j) != static_cast<double>(expected(static_cast<std::int64_t>(i) + a.global_offset(I),
                                                               static_cast<std::int64_t>(j)));
  return wrong;
}

struct sizes_of {
  std::int64_t i, j, k;
};

// The work of a thread: all kinds of operations, with small numbers, which add up exactly. @returns the number of wrong
// results
long work(line const& mesh, int thread, sizes_of n, int rounds) {
  auto const a_at = KOKKOS_LAMBDA(std::int64_t i, std::int64_t j) {
    return static_cast<double>((i + 2 * j + thread) % 7);
  };
  auto const b_at = KOKKOS_LAMBDA(std::int64_t j, std::int64_t k) {
    return static_cast<double>((3 * j + k + thread) % 5);
  };
  auto const a = os::generate<double, I, J/X>(mesh, I = n.i, J = n.j, a_at);
  auto const b = os::generate<double, J/X, K>(mesh, J = n.j, K = n.k, b_at);
  auto const c = os::zeros<double, I, K>(mesh, I = n.i, K = n.k);
  auto const split = os::zeros<double, I/X, J>(mesh, I = n.i, J = n.j);
  std::vector<double> product(static_cast<std::size_t>(n.i * n.k));
  double all = 0;
  for (std::int64_t i = 0; i < n.i; ++i)
    for (std::int64_t j = 0; j < n.j; ++j) {
      all += a_at(i, j);
      for (std::int64_t k = 0; k < n.k; ++k) product[static_cast<std::size_t>(i * n.k + k)] += a_at(i, j) * b_at(j, k);
    }
  auto const c_at = [&](std::int64_t i, std::int64_t k) { return product[static_cast<std::size_t>(i * n.k + k)]; };
  auto const half = KOKKOS_LAMBDA(double v) { return 0.5 * v; };
  long wrong = 0;
  for (int r = 0; r < rounds; ++r) {
    os::einsum_into(c, a, b);
    wrong += wrong_elements(c, c_at);
    os::map_into(c, half, c);
    wrong += wrong_elements(c, [&](std::int64_t i, std::int64_t k) { return 0.5 * c_at(i, k); });
    wrong += wrong_elements(os::einsum<I/X, K>(a, b), c_at);
    os::reshard_into(split, a);
    wrong += wrong_elements(split, a_at);
    wrong += wrong_elements(os::map(KOKKOS_LAMBDA(double x, double y) { return x - y; }, split, os::reshard<I/X, J>(a)),
                            [](std::int64_t, std::int64_t) { return 0; });
    wrong += os::value(os::sum<>(a)) != all;
    wrong += os::value(os::max<>(split)) > 6;
    wrong += wrong_elements(os::einsum<I, K>(a, b, os::within(1 << 20)), c_at);
  }
  return wrong;
}

}  // namespace

TEST_CASE("threads on meshes of their own get what one alone gets") {
  std::vector<line> meshes;
  for (int t = 0; t < threads; ++t) meshes.push_back(make_line());
  std::vector<long> wrong(threads);
#ifdef __SANITIZE_THREAD__
  int const rounds = 20;
#else
  int const rounds =
      os::testing::ranks() == 1 ? 400 : 60;  // threads of ranks that spin while they wait share few cores
#endif
  SUBCASE("small ones, by the threads themselves") {
    CHECK(on_threads([&](int t) {
            wrong[static_cast<std::size_t>(t)] = work(meshes[static_cast<std::size_t>(t)], t, {5, 6 + t, 4}, rounds);
          }) == "");
  }
  SUBCASE("large ones, with the threads of Kokkos and BLAS") {
    CHECK(on_threads([&](int t) {
            wrong[static_cast<std::size_t>(t)] =
                work(meshes[static_cast<std::size_t>(t)], t, {90, 130 + t, 110}, rounds / 20);
          }) == "");
  }
  for (long w : wrong) CHECK(w == 0);
}

TEST_CASE("a mesh that another thread is using is refused, and free again afterwards") {
  auto const mesh = make_line();
  auto const other = make_line();
  auto const one = os::generate<double, I>(mesh, I = 3, KOKKOS_LAMBDA(std::int64_t) { return 1.0; });
  auto const elsewhere = os::generate<double, I>(other, I = 3, KOKKOS_LAMBDA(std::int64_t) { return 1.0; });
  std::atomic<bool> inside{false}, tried{false};
  std::thread first([&] {
    os::map_into(
        one,
        [&](double v) {
          inside = true;
          while (!tried) std::this_thread::yield();
          return v + 1;
        },
        one);
  });
  while (!inside) std::this_thread::yield();
  std::string said;
  try {
    os::map_into(one, KOKKOS_LAMBDA(double v) { return v; }, one);
  } catch (os::error const& e) {
    said = e.what();
  }
  os::map_into(elsewhere, KOKKOS_LAMBDA(double v) { return v + 1; }, elsewhere);
  tried = true;
  first.join();
  CHECK(said == "map_into: one host thread at a time uses a mesh, but another is in an operation on X=" +
                    std::to_string(os::testing::ranks()) +
                    "; give each thread a mesh of its own (os::make_mesh), or take turns");
  os::map_into(one, KOKKOS_LAMBDA(double v) { return v + 1; }, one);
  CHECK(one.local()(0) == 3);
  CHECK(elsewhere.local()(0) == 2);
}

TEST_CASE("what a thread has kept ends with it") {
  auto const mesh = make_line();
  auto& pool = os::engine::workspace<Kokkos::HostSpace>::instance();
  auto const held = pool.held_bytes();
  std::thread([&] {
    CHECK(work(mesh, 0, {40, 50, 30}, 2) == 0);
    CHECK(&os::engine::workspace<Kokkos::HostSpace>::instance() != &pool);
    CHECK(os::engine::workspace<Kokkos::HostSpace>::instance().held_bytes() > 0);
  }).join();
  CHECK(pool.held_bytes() == held);
}
