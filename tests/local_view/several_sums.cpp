// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// os::sum_over_points<K>, several sums in one pass, against plain loops and against single sums: arrays with ghost
/// layers in every layout, a halo that travels, and sums of integers and of complex numbers.
// labels: essential
// checked: 2 4
// sham:

#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "local_view/points.hpp"
#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;
using namespace t::points;

namespace {

// A sum on this device.
template <class Sum>
double sum_here(Sum const& sum) {
  return t::host_block(sum)();
}

}  // namespace

TEST_CASE("several sums in one pass: those of loops, and each the bits of one alone") {
  on_all([](t::test_mesh const& m, mesh_type const& mesh, std::int64_t n, std::int64_t k) {
    if (n < 1 || k < 1) return;
    range_here const i = here(m, "X", n), j = here(m, "Y", k);
    auto const third = [](std::int64_t a, std::int64_t b) { return value_at(a, b) / 3; };
    for (bool by_columns : {false, true})
      for (std::int64_t step : {1, 2}) {
        field x(i, j, by_columns, step), y(i, j, false, 1);
        x.set(value_at), y.set(third);
        auto const u = adopt(mesh, n, k, x), v = adopt(mesh, n, k, y);
        auto const sums = os::sum_over_points<K>(
            [](double& a, double b) {
              a += 1;
              return Kokkos::Array<double, 3>{a, b, a * b};
            },
            u, v);
        static_assert(std::is_same_v<decltype(sums)::sharding_type, os::sharding<K_axis, os::varying<X_mesh, Y_mesh>>>);
        double const alone[] = {sum_here(os::sum_over_points([](double a) { return a; }, u)),
                                sum_here(os::sum_over_points([](double b) { return b; }, v)),
                                sum_here(os::sum_over_points([](double a, double b) { return a * b; }, u, v))};
        auto const here_of_sums = t::host_block(sums);
        for (int s = 0; s < 3; ++s)
          CHECK(std::bit_cast<std::uint64_t>(here_of_sums(s)) == std::bit_cast<std::uint64_t>(alone[s]));
        auto const whole = t::host_block(os::psum<X, Y>(sums));
        // Of positive terms, in two orders: each sum has a relative error of up to (terms − 1) · epsilon / 2.
        double const bound = static_cast<double>(n * k) * std::numeric_limits<double>::epsilon();
        CHECK(whole(0) == sum_of_all(n, k, [](std::int64_t a, std::int64_t b) { return value_at(a, b) + 1; }));
        auto const product = [&](std::int64_t a, std::int64_t b) { return (value_at(a, b) + 1) * third(a, b); };
        CHECK(whole(1) == doctest::Approx(sum_of_all(n, k, third)).epsilon(bound));
        CHECK(whole(2) == doctest::Approx(sum_of_all(n, k, product)).epsilon(bound));
        CHECK(x.wrong([](std::int64_t a, std::int64_t b) { return value_at(a, b) + 1; }) == 0);
      }
    field x(i, j, false, 1), y(i, j, true, 1);
    x.set(value_at);
    auto const p = adopt(mesh, n, k, x), q = adopt(mesh, n, k, y);
    auto const inside = value_or_ghost(n, k);
    auto const around = [&](std::int64_t a, std::int64_t b) { return inside(a - 1, b) + inside(a, b + 1); };
    auto const begun = t::host_block(os::psum<X, Y>(os::sum_over_points<K>(
        [](double& to, auto const& from) {
          to = from(-1, 0) + from(0, 1);
          return Kokkos::Array<double, 3>{to, from(0, 0), 1};
        },
        q, os::start_exchange_halo_into<os::halo<I, 1>/X, os::halo<J, 1>/Y>(p, os::faces))));
    CHECK(y.wrong(around) == 0);
    CHECK(begun(0) == sum_of_all(n, k, around));
    CHECK(begun(1) == sum_of_all(n, k, value_at));
    CHECK(begun(2) == static_cast<double>(n * k));
  });
}

TEST_CASE("several sums of other kinds of elements, along an axis without an extent") {
  auto const mesh = os::make_mesh(X = t::ranks());
  for (std::int64_t n : {0, 1, 2, 3, 255, 256, 257, 3000}) {
    auto const A = os::generate<std::int32_t, I/X>(mesh, I = n, [](std::int64_t i) { return std::int32_t(i % 7); });
    std::int32_t first = 0, second = 0;
    for (std::int32_t i = 0; i < n; ++i) first += i % 7, second += (i % 7) * (i % 7);
    auto const both = t::host_block(os::all_reduce<X>(os::sum_over_points<L>(
        [](std::int32_t i) {
          return std::array<std::int32_t, 2>{i, i * i};
        },
        A)));
    CHECK(both.extent(0) == 2);
    CHECK(both(0) == first);
    CHECK(both(1) == second);
    auto const one = t::host_block(os::all_reduce<X>(os::sum_over_points<L>(
        [](std::int32_t i) { return std::array{Kokkos::complex<float>(static_cast<float>(i), 1)}; }, A)));
    CHECK(one(0).real() == static_cast<float>(first));
    CHECK(one(0).imag() == static_cast<float>(n));
    auto const many = t::host_block(os::all_reduce<X>(os::sum_over_points<L>(
        [](std::int32_t i) {
          std::array<double, 40> powers{};
          for (std::size_t k = 0; k < 40; ++k) powers[k] = static_cast<double>(i) * static_cast<double>(k);
          return powers;
        },
        A)));
    for (int k = 0; k < 40; ++k) CHECK(many(k) == static_cast<double>(first) * k);
  }
  auto const everywhere = os::generate<double, I>(mesh, I = 5, [](std::int64_t i) { return double(i); });
  auto const same = os::sum_over_points<L>([](double a) { return std::array{a, 2 * a}; }, everywhere);
  static_assert(std::is_same_v<decltype(same)::sharding_type, os::sharding<L_axis>>);
  CHECK(t::host_block(same)(1) == 20);
}
