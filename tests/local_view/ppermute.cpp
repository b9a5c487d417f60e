// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// os::shift and os::ppermute of blocks, on every mesh, along one mesh axis and several, with blocks of uneven extents:
/// the source of each device's block, against plain counting.
// labels: essential
// sham:

#include <doctest/doctest.h>

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

template <auto... Dims>
using tensor = os::tensor<double, Dims...>;

// The block that device `from` of the ones along X (with this device's other coordinates) holds of a [I/X, J].
std::vector<double> block_of(t::test_mesh const& m, t::extents_by_letter const& e,
                             t::global_tensor<double> const& whole, int x) {
  std::int64_t const n = e.at('I'), p = m.size("X"), j = e.at('J');
  std::vector<double> block;
  for (std::int64_t i = x * n / p; i < (x + 1) * n / p; ++i)
    for (std::int64_t k = 0; k < j; ++k) block.push_back(whole.values[static_cast<std::size_t>(i * j + k)]);
  return block;
}

template <class Block>
std::vector<double> elements(Block const& b) {
  return t::read_elements<double>(b.local().data(), b.local().size());
}

}  // namespace

TEST_CASE("along one mesh axis") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : t::usual_extents()) {
      INFO(m.text(), t::text_of(e));
      auto const values = t::whole_numbers<double>("IJ", e, 4);
      auto const A = t::placed<tensor<I/X, J>>(m, values);
      int const n = m.size("X"), x = m.coordinate("X", t::rank());
      static_cast<void>(os::shard_map<os::dims<I/X, J>{}>(
          [&](auto a) {
            for (int by : {0, 1, -1, 2, n + 3}) {
              INFO("by ", by);
              auto const b = os::shift<X>(a, by);
              CHECK(elements(b) == block_of(m, e, values, ((x - by) % n + n) % n));
              auto const back = os::shift<X>(b, -by);
              CHECK(back.extent(I).origin() == a.extent(I).origin());
              CHECK(elements(back) == elements(a));
            }
            auto first = os::start_shift<X>(a, 1);
            auto second = os::start_shift<X>(a, -1);
            CHECK(elements(std::move(first).wait()) == block_of(m, e, values, (x + n - 1) % n));
            CHECK(elements(std::move(second).wait()) == block_of(m, e, values, (x + 1) % n));
            if (n >= 2) {
              auto const b = os::ppermute<X>(a, {{0, n - 1}, {n - 1, 0}});
              auto const wanted = x == 0       ? block_of(m, e, values, n - 1)
                                  : x == n - 1 ? block_of(m, e, values, 0)
                                               : std::vector<double>(a.local().size(), 0.0);
              CHECK(elements(b) == wanted);
              auto const on = os::shift<X>(b, 1);  // no device knows its extents
              if (x == 1 || n == 1) CHECK(elements(on) == block_of(m, e, values, n - 1));
              CHECK_THROWS_WITH_AS(static_cast<void>(os::ppermute<X>(a, {{0, 1}, {0, 0}})),
                                   doctest::Contains("0 → 0 repeats the source or the target of an earlier hop"),
                                   os::error);
              std::string const absent = "0 → " + std::to_string(n) + " names a device that does not exist";
              CHECK_THROWS_WITH_AS(static_cast<void>(os::ppermute<X>(a, std::vector<os::hop>{{0, n}})),
                                   doctest::Contains(absent.c_str()), os::error);
            }
            return a;
          },
          A));
    }
  });
}

TEST_CASE("along two mesh axes, in the order in which they are named") {
  t::on_every_mesh([](t::test_mesh const& m) {
    int const x = m.coordinate("X", t::rank()), y = m.coordinate("Y", t::rank()), nx = m.size("X"), ny = m.size("Y");
    INFO(m.text());
    t::extents_by_letter const e{{'I', 4 * nx}, {'J', 3 * ny}};
    auto const A = t::placed<tensor<I/X, J/Y>>(m, t::whole_numbers<double>("IJ", e, 4));
    static_cast<void>(os::shard_map<I/X, J/Y>(
        [&](auto a) {
          Kokkos::deep_copy(a.local(), 10.0 * x + y);
          int const before = (x * ny + y + nx * ny - 1) % (nx * ny);
          CHECK(elements(os::shift<X, Y>(a, 1)).front() == 10.0 * (before / ny) + before % ny);
          int const before_y_major = (y * nx + x + nx * ny - 1) % (nx * ny);
          CHECK(elements(os::shift<Y, X>(a, 1)).front() == 10.0 * (before_y_major % nx) + before_y_major / nx);
          if (nx * ny > 1) {
            auto const b = os::ppermute<Y, X>(a, {{nx * ny - 1, 0}});
            CHECK(elements(b).front() == (x == 0 && y == 0 ? 10.0 * (nx - 1) + (ny - 1) : 0.0));
          }
          return a;
        },
        A));
  });
}

TEST_CASE("by a number that differs along other mesh axes, along which the result then varies") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : t::usual_extents()) {
      INFO(m.text(), t::text_of(e));
      auto const values = t::whole_numbers<double>("IJ", e, 4);
      auto const A = t::placed<tensor<I/X, J>>(m, values);
      int const n = m.size("X"), x = m.coordinate("X", t::rank()), y = m.coordinate("Y", t::rank());
      static_cast<void>(os::shard_map<os::manual(X, Y), I/X, J>(
          [&](auto a) {
            auto const b = os::shift<X>(a, 1 - 2 * os::axis_index<Y>(a));
            static_assert(std::is_same_v<std::remove_cvref_t<decltype(b)>, tensor<I, J, os::varying(X, Y)>>);
            CHECK(elements(b) == block_of(m, e, values, ((x - 1 + 2 * y) % n + n) % n));
            auto begun = os::start_shift<X>(a, -os::axis_index<Y>(a));
            auto const c = std::move(begun).wait();
            CHECK(elements(c) == block_of(m, e, values, (x + y) % n));
            CHECK(elements(os::shift<X>(c, os::axis_index<Y>(a))) == elements(a));
            return a;
          },
          A));
    }
  });
}

TEST_CASE("the number of a device along several mesh axes") {
  t::on_every_mesh([](t::test_mesh const& m) {
    int const x = m.coordinate("X", t::rank()), y = m.coordinate("Y", t::rank()), nx = m.size("X"), ny = m.size("Y");
    os::mesh<X_mesh, Y_mesh, Z_mesh> const mesh(m.handle());
    CHECK(os::axis_index<X, Y>(mesh).value() == x * ny + y);
    CHECK(os::axis_index<Y, X>(mesh).value() == y * nx + x);
    static_assert(std::is_same_v<decltype(os::axis_index<Y, X>(mesh)), os::varying_int<X_mesh, Y_mesh>>);
    CHECK(os::axis_size<X, Y>(mesh) == nx * ny);
    CHECK((-os::axis_index<X>(mesh) + 1).value() == 1 - x);
  });
}
