// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// os::for_each_point and os::sum_over_points against plain loops: blocks and arrays with ghost layers in every layout,
/// uneven, narrow and empty; several blocks written in one pass; neighbours while the halo travels. Element (i, j) of
/// the whole is 100 i + 7 j + 1: whole numbers, so that sums in any order are the same.
// labels: essential
// checked: 2 4
// sham:

#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "local_view/points.hpp"
#include "support/on_meshes.hpp"
#include "support/program_array.hpp"
#include "support/said_alike.hpp"

namespace os = ostraka;
namespace t = os::testing;

using namespace t::points;

TEST_CASE("arrays with ghost layers: several are written in one pass, which sums") {
  on_all([](t::test_mesh const& m, mesh_type const& mesh, std::int64_t n, std::int64_t k) {
    if (n < 1 || k < 1) return;
    range_here const i = here(m, "X", n), j = here(m, "Y", k);
    for (bool by_columns : {false, true})
      for (std::int64_t step : {1, 2}) {
        field x(i, j, by_columns, step), r(i, j, !by_columns, 1), p(i, j, by_columns, 1);
        x.set(value_at);
        r.set([](std::int64_t a, std::int64_t b) { return static_cast<double>(a - b); });
        p.set([](std::int64_t a, std::int64_t) { return static_cast<double>(a % 3); });
        auto const u = adopt(mesh, n, k, x), v = adopt(mesh, n, k, r), w = adopt(mesh, n, k, p);
        auto const sum = os::sum_over_points(
            [](double& to, double& other, double const& by) {
              to += 2 * by;
              other -= by;
              return other * other;
            },
            u, v, w);
        auto const new_x = [](std::int64_t a, std::int64_t b) {
          return value_at(a, b) + 2 * static_cast<double>(a % 3);
        };
        auto const new_r = [](std::int64_t a, std::int64_t b) { return static_cast<double>(a - b - a % 3); };
        CHECK(x.wrong(new_x) == 0);
        CHECK(r.wrong(new_r) == 0);
        CHECK(p.wrong([](std::int64_t a, std::int64_t) { return static_cast<double>(a % 3); }) == 0);
        CHECK(os::value(os::psum<X, Y>(sum)) ==
              sum_of_all(n, k, [&](std::int64_t a, std::int64_t b) { return new_r(a, b) * new_r(a, b); }));
        os::for_each_point([](double& a) { a = -a; }, v);
        CHECK(r.wrong([&](std::int64_t a, std::int64_t b) { return -new_r(a, b); }) == 0);
      }
  });
}

TEST_CASE("an operator and the sum of its product, while the halo travels") {
  on_all([](t::test_mesh const& m, mesh_type const& mesh, std::int64_t n, std::int64_t k) {
    if (n < 1 || k < 1) return;
    range_here const i = here(m, "X", n), j = here(m, "Y", k);
    auto const inside = value_or_ghost(n, k);
    auto const applied = [&](std::int64_t a, std::int64_t b) {
      return 4 * inside(a, b) - inside(a - 1, b) - inside(a + 1, b) - inside(a, b - 1) - inside(a, b + 1);
    };
    auto const apply = [](double& q, auto const& p) {
      q = 4 * p(0, 0) - p(-1, 0) - p(1, 0) - p(0, -1) - p(0, 1);
      return q * p(0, 0);
    };
    double const wanted =
        sum_of_all(n, k, [&](std::int64_t a, std::int64_t b) { return applied(a, b) * value_at(a, b); });
    for (bool by_columns : {false, true})
      for (int way = 0; way < 3; ++way) {
        field x(i, j, by_columns, 1), y(i, j, false, 1);
        x.set(value_at);
        auto const p = adopt(mesh, n, k, x), q = adopt(mesh, n, k, y);
        if (way == 0) {
          auto const sum = os::sum_over_points(
              apply, q, os::start_exchange_halo_into<os::halo<I, 1>/X, os::halo<J, 1>/Y>(p, os::faces));
          CHECK(os::value(os::psum<X, Y>(sum)) == wanted);
        } else if (way == 1) {
          os::exchange_halo_into<os::halo<I, 1>/X, os::halo<J, 1>/Y>(p);
          CHECK(os::value(os::psum<X, Y>(os::sum_over_points(apply, q, os::neighbours_of(p)))) == wanted);
        } else {
          auto begun = os::start_exchange_halo_into<os::halo<I, 1>/X, os::halo<J, 1>/Y>(p);
          os::for_each_point([apply](double& to, auto const& from) { static_cast<void>(apply(to, from)); }, q, begun);
        }
        CHECK(y.wrong(applied) == 0);
      }
  });
}

TEST_CASE("blocks in a body, padded and not, and whole tensors") {
  on_all([](t::test_mesh const&, mesh_type const& mesh, std::int64_t n, std::int64_t k) {
    auto const A = os::generate<double, I / X, J / Y>(
        mesh, I = n, J = k, [](std::int64_t a, std::int64_t b) { return static_cast<double>(100 * a + 7 * b + 1); });
    double const squares =
        sum_of_all(n, k, [](std::int64_t a, std::int64_t b) { return value_at(a, b) * value_at(a, b); });
    CHECK(os::value(os::all_reduce<X, Y>(os::sum_over_points([](double a) { return a * a; }, A))) == squares);
    double dot = 0;
    auto const doubled = os::shard_map<I / X, J / Y>(
        [&](auto block) {
          auto const twice = os::zeros_like(block);
          if (n < 1 || k < 1) return twice;
          auto const padded = os::exchange_halo<os::halo<I, 1>/X, os::halo<J, 1>/Y>(block);
          dot = os::value(os::psum<X, Y>(os::sum_over_points(
              [](double& to, double const& from, auto const& u) {
                to = u(0, 0) + from;
                return u(0, 0) * from;
              },
              twice, block, os::neighbours_of(padded))));
          os::for_each_point([](double& u, double b) { u += b; }, padded, block);
          os::for_each_point([](double u, double& b) { b = u; }, padded, twice);
          return twice;
        },
        A);
    if (n < 1 || k < 1) return;
    CHECK(dot == squares);
    CHECK(t::wrong_elements(doubled, [](std::int64_t a, std::int64_t b) { return 2 * value_at(a, b); }) == 0);
  });
}

TEST_CASE("sums are the same whatever the elements' kind") {
  auto const mesh = os::make_mesh(X = t::ranks());
  std::int64_t const n = 3 * t::ranks() + 1;
  auto const whole = os::generate<std::int64_t, I / X>(mesh, I = n, [](std::int64_t i) { return i; });
  CHECK(os::value(os::all_reduce<X>(os::sum_over_points([](std::int64_t i) { return i * i; }, whole))) ==
        (n - 1) * n * (2 * n - 1) / 6);
  auto const z = os::generate<Kokkos::complex<double>, I / X>(
      mesh, I = n, [](std::int64_t i) { return Kokkos::complex<double>(double(i), 1); });
  auto const sum =
      os::value(os::all_reduce<X>(os::sum_over_points([](Kokkos::complex<double> const& a) { return a * a; }, z)));
  CHECK(sum.real() == double((n - 1) * n * (2 * n - 1) / 6 - n));
  CHECK(sum.imag() == double((n - 1) * n));
}

TEST_CASE("what does not fit is said alike") {
  auto const mesh = os::make_mesh(X = t::ranks());
  std::int64_t const n = 3 * t::ranks();
  t::program_array<double> const memory(16), other(16);
  auto const u = os::from_local<double, os::halo<I, 1>/X>(mesh, I = n, os::strided(memory.data(), I = 1));
  auto const shifted = os::from_local<double, os::halo<I, 1>/X>(mesh, I = n, os::strided(memory.data() + 1, I = 1));
  auto const longer = os::from_local<double, os::halo<I, 1>/X>(mesh, I = 2 * n, os::strided(other.data(), I = 1));
  std::string const apart =
      "for_each_point: operands are the same block or share no memory, and one whose neighbours are read shares none, "
      "but two share memory at different points; give f each block once, or copy one of them";
  auto const set = [](double& a, double b) { a = b; };
  auto const set_from = [](double& a, auto const& b) { a = b(1); };
  CHECK(t::said_alike([&] { os::for_each_point(set, u, shifted); }) == apart);
  CHECK(t::said_alike([&] { os::for_each_point(set_from, u, os::neighbours_of(u)); }) == apart);
  CHECK(t::said_alike([&] { os::for_each_point(set, u, u); }) == "nothing");
  CHECK(t::said_alike([&] {
          os::for_each_point(set, u, longer);
        }).find("for_each_point: all blocks have the same extents, halos aside, but I is ") == 0);
}

TEST_CASE("in check mode the function reads no farther than the halo, whatever it writes") {
  auto const mesh = os::make_mesh(X = t::ranks());
  if (!mesh.handle()->world().compares_calls()) return;
  t::program_array<double> const memory(16), other(16);
  auto const adopt_one = [&](t::program_array<double> const& of) {
    return os::from_local<double, os::halo<I, 1>/X>(mesh, I = 3 * t::ranks(), os::strided(of.data(), I = 1));
  };
  auto const u = adopt_one(memory), v = adopt_one(other);
  CHECK(t::said_alike([&] {
          os::for_each_point([](double& to, auto const& x) { to = x(-1) + x(1); }, v, os::neighbours_of(u));
        }) == "nothing");
  std::string const beyond =
      "f reads no farther than the halo of a block reaches, but it reads u(2) of a halo of 1 "
      "along I; exchange a wider halo, or read a nearer neighbour";
  CHECK(t::said_alike([&] {
          os::for_each_point([](double& to, auto const& x) { to = x(-1) + x(2); }, v, os::neighbours_of(u));
        }) == "for_each_point: " + beyond);
  CHECK(t::said_alike([&] {
          static_cast<void>(os::sum_over_points([](auto const& x) { return x(2); }, os::neighbours_of(u)));
        }) == "sum_over_points: " + beyond);
}

TEST_CASE("operands without axes have one point") {
  auto const mesh = os::make_mesh(X = t::ranks());
  auto const a = os::full<double>(mesh, 3.0), b = os::full<double>(mesh, 4.0);
  os::for_each_point([](double& to, double from) { to += from; }, a, b);
  CHECK(os::value(a) == 7);
  CHECK(os::value(os::sum_over_points([](double x, double y) { return x * y; }, a, b)) == 28);
}

TEST_CASE("a function of the points alone is called once at each of them, in check mode too") {
  auto const mesh = os::make_mesh(X = t::ranks());
  auto const u = os::full<double, I / X>(mesh, I = 2 * t::ranks() + 1, 5.0);
  t::program_array<int> const calls(8);
  os::for_each_point([of = calls.data()](double x) { Kokkos::atomic_add(of + static_cast<int>(x), 1); }, u);
  calls.fetch();
  std::vector<int> right(8);
  right[5] = static_cast<int>(u.local().size());
  CHECK(std::vector<int>(calls.begin(), calls.end()) == right);
}

TEST_CASE("the block that a wider halo at one end sends is written once it has been sent") {
  auto const mesh = os::make_mesh(X = t::ranks());
  constexpr std::int64_t width = 200'000;  // too long for a message that is copied at once
  range_here const here(4 * t::ranks(), t::rank(), t::ranks());
  auto const before = [](std::int64_t i, std::int64_t j) { return static_cast<double>(10 * i + j % 7); };
  auto const u = os::generate<double, I / X, J>(
      mesh, I = 4 * t::ranks(), J = width,
      KOKKOS_LAMBDA(std::int64_t i, std::int64_t j) { return static_cast<double>(10 * i + j % 7); });
  static_cast<void>(os::shard_map<I / X, J>(
      [](auto const& block) {
        auto halo = os::start_exchange_halo<os::halo<I, 1, 0>/X>(block, os::boundary = 0.5);
        if (t::rank() == t::ranks() - 1) {  // the others compute meanwhile
          auto const begin = std::chrono::steady_clock::now();
          while (std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(50)) {
          }
        }
        os::for_each_point([](double& to, auto const& from) { to -= 2 * from(-1); }, block, std::move(halo));
        return block;
      },
      u));
  auto const got = t::host_block(u);
  std::int64_t bad = 0;
  for (std::int64_t i = here.begin; i < here.end; ++i)
    for (std::int64_t j = 0; j < width; ++j) {
      double const above = i > 0 ? before(i - 1, j) : 0.5;
      bad += got(static_cast<std::size_t>(i - here.begin), static_cast<std::size_t>(j)) == before(i, j) - 2 * above ? 0
                                                                                                                    : 1;
    }
  CHECK(bad == 0);
}
