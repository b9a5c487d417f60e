// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Arrays with ghost layers of programs that divide axes by rules of their own, os::at, against plain loops: the
/// remainder on the first ranks, blocks of ⌈n/p⌉, blocks of very different sizes and empty ones.
// labels: essential
// checked: 2 4
// sham:

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "local_view/ghosted.hpp"
#include "support/said_alike.hpp"

namespace os = ostraka;
namespace t = os::testing;

using namespace t::ghosted;

namespace {

using begin_of_block = std::int64_t (*)(std::int64_t n, std::int64_t k, std::int64_t p);

// The remainder on the first ranks.
std::int64_t remainder_first(std::int64_t n, std::int64_t k, std::int64_t p) {
  return k * (n / p) + std::min(k, n % p);
}
std::int64_t of_ceiling(std::int64_t n, std::int64_t k, std::int64_t p) { return std::min(k * ((n + p - 1) / p), n); }
std::int64_t all_on_last(std::int64_t n, std::int64_t k, std::int64_t p) { return k < p ? 0 : n; }
std::int64_t growing(std::int64_t n, std::int64_t k, std::int64_t p) { return n * k * k / (p * p); }

// An axis of a mesh of axes X, Y and Z on this rank.
axis_here here_by(begin_of_block rule, t::test_mesh const& m, char const* over, std::int64_t n, int v, int w,
                  bool ring) {
  axis_here a = here(m, over, n, v, w, ring);
  std::int64_t const k = m.coordinate(over, t::rank()), p = m.size(over);
  a.begin = rule(n, k, p);
  a.end = k + 1 == p ? n : rule(n, k + 1, p);
  return a;
}

template <auto HaloI, auto HaloJ>
auto adopt(mesh_type const& mesh, both_axes const& a, piece& x) {
  return os::from_local<double, HaloI, HaloJ>(mesh, I = a.i.whole, J = a.j.whole, os::at(I = a.i.begin, J = a.j.begin),
                                              x.strided());
}

template <auto HaloI, auto HaloJ, class... Options>
void check_exchange(mesh_type const& mesh, both_axes const& a, bool corners, Options const&... options) {
  if (std::max(a.i.before, a.i.behind) > a.i.whole || std::max(a.j.before, a.j.behind) > a.j.whole) return;
  for (lies const& l : layouts(a)) {
    INFO(l.name);
    piece x(l);
    set_own(x, a);
    auto const u = adopt<HaloI, HaloJ>(mesh, a, x);
    static_assert(std::is_same_v<decltype(u), os::ghosted_array<double, HaloI, HaloJ> const>);
    CHECK(u.extent(I) == a.i.own());
    CHECK(u.global_offset(J) == a.j.begin);
    for (int again = 0; again < 2; ++again) {
      os::exchange_halo_into<HaloI, HaloJ>(u, options...);
      CHECK(wrong(x, a, corners) == 0);
      set_own(x, a);
    }
    static_cast<void>(os::start_exchange_halo_into<HaloI, HaloJ>(u, options...).wait());
    CHECK(wrong(x, a, corners) == 0);
  }
}

}  // namespace

TEST_CASE("halos between blocks of a program's own rules") {
  for (auto const& [of_i, of_j] : {std::pair<begin_of_block, begin_of_block>{remainder_first, of_ceiling},
                                   {growing, remainder_first},
                                   {all_on_last, growing},
                                   {of_ceiling, all_on_last}})
    on_all([&](t::test_mesh const& m, mesh_type const& mesh, std::int64_t n, std::int64_t k) {
      auto const axes = [&](int v, int w, bool ri, int y, int z, bool rj) {
        return both_axes{here_by(of_i, m, "X", n, v, w, ri), here_by(of_j, m, "Y", k, y, z, rj)};
      };
      check_exchange<os::halo<I, 1> / X, os::halo<J, 1> / Y>(mesh, axes(1, 1, false, 1, 1, false), true);
      check_exchange<os::halo<I, 2, 1> / X, os::halo<J, 0, 3> / Y>(mesh, axes(2, 1, true, 0, 3, true), true,
                                                                   os::periodic);
      check_exchange<os::halo<I, 1, 2> / X, os::halo<J, 2> / Y>(mesh, axes(1, 2, false, 2, 2, true), false, os::faces,
                                                                os::periodic(J));
    });
}

TEST_CASE("stencils and sums over blocks of a program's own rules") {
  on_all([](t::test_mesh const& m, mesh_type const& mesh, std::int64_t n, std::int64_t k) {
    if (n < 2 || k < 1) return;
    both_axes const a{here_by(remainder_first, m, "X", n, 2, 1, true), here_by(growing, m, "Y", k, 0, 1, true)};
    auto const wanted = lopsided_on_rings(n, k);
    piece x(layouts(a)[1]), y(layouts(a)[2]);
    set_own(x, a);
    for_each_padded(a, [&](std::int64_t p, std::int64_t q) { y.at(p, q) = beyond_end; });
    y.memory.send();
    auto const u = adopt<os::halo<I, 2, 1> / X, os::halo<J, 0, 1> / Y>(mesh, a, x);
    auto const v = adopt<os::halo<I, 2, 1> / X, os::halo<J, 0, 1> / Y>(mesh, a, y);
    os::stencil_into(v, lopsided,
                     os::start_exchange_halo_into<os::halo<I, 2, 1> / X, os::halo<J, 0, 1> / Y>(u, os::periodic));
    CHECK(wrong_own(y, a, wanted) == 0);
    double expected = 0;  // whole numbers, so the order of the sum does not matter
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < k; ++j) expected += wanted(i, j) + value_at(i, j);
    auto const sum = os::sum_over_points([](double one, double other) { return one + other; }, v, u);
    CHECK(os::value(os::psum<X, Y>(sum)) == expected);
  });
}

TEST_CASE("what does not follow, or begins elsewhere, is said alike") {
  auto const mesh = os::make_mesh(X = t::ranks());
  std::int64_t const p = t::ranks(), r = t::rank(), n = 3 * p + 1;
  std::int64_t const begin = r == 0 ? 0 : 3 * r + 1, rows = r == 0 ? 4 : 3;  // the remainder on the first rank
  Kokkos::View<double*> const view("v", static_cast<std::size_t>(rows + 2));
  auto const adopt_at = [&](std::int64_t at, auto const& memory) {
    return os::from_local<double, os::halo<I, 1> / X>(mesh, I = n, os::at(I = at), memory);
  };
  auto const said = [&](std::int64_t at, auto const& memory) {
    return t::said_alike([&] { static_cast<void>(adopt_at(at, memory)); });
  };
  std::string const rule = "from_local: os::at gives the global index of the first element that each device owns, but ";
  std::string const follow = "; blocks follow each other without gaps, the first one from 0 on";
  std::string const whole = "along I = " + std::to_string(n) + " device ";
  CHECK(said(begin, view) == "nothing");
  CHECK(said(begin + 1, view) == rule + whole + "0 gives 1, and has the first block" + follow);
  CHECK(said(begin, Kokkos::View<double*>("w", static_cast<std::size_t>(rows + 3)))
            .find("from_local: each view has the extents of its device's block with its ghost layers, but that of "
                  "device 0 has not; device 0 holds 6 elements along dimension 0 and its view has 7; a device holds "
                  "what lies between its os::at and that of the next one") == 0);
  if (p == 1) return;
  CHECK(said(r == 0 ? 0 : n + 1, view) ==
        rule + whole + "1 gives " + std::to_string(n + 1) + ", which is beyond the end" + follow);
  if (p > 2)
    CHECK(said(r == 0 ? 0 : n - r, view) == rule + whole + "2 gives " + std::to_string(n - 2) +
                                                ", and device 1, which has the block before, " + std::to_string(n - 1) +
                                                follow);

  // Operands of one pass are divided alike.
  auto const u = adopt_at(begin, view);
  auto const v =
      adopt_at(r == p - 1 ? 3 * r : 3 * r, os::strided(view.data(), I = 1));  // the remainder on the last rank
  CHECK(t::said_alike([&] { os::for_each_point([](double& a, double b) { a = b; }, u, v); }) ==
        "for_each_point: the blocks of all arrays begin at the same indices, but those along I begin elsewhere in one "
        "array than in another (os::at); adopt both with the same os::at");
  auto const whole_tensor = os::zeros<double, I / X>(mesh, I = n);
  CHECK(t::said_alike([&] {
          os::shard_map<I / X>(
              [](auto block, auto array) {
                os::for_each_point([](double& a, double b) { a = b; }, block, array);
                return block;
              },
              whole_tensor, u);
        }).find("for_each_point: the blocks of all arrays begin at the same indices, but those along I") == 0);
  CHECK(t::said_alike([&] {
          os::shard_map<I / X>(
              [](auto block, auto array) {
                os::exchange_halo_into<os::halo<I, 1> / X>(array, block);
                return block;
              },
              whole_tensor, u);
        }).find("exchange_halo_into: a tensor's block fills an array that is divided as tensors are") == 0);
  CHECK(t::said_alike([&] {
          static_cast<void>(os::shard_map<I / X>([](auto array) { return os::own(array); }, u));
        }).find("shard_map: blocks have the same extents on all devices") == 0);

  // Where the rules agree, the array is one of the block distribution.
  auto const same = adopt_at(r * n / p, os::strided(view.data(), I = 1));
  CHECK(same.begins()[0] == nullptr);
  CHECK(t::said_alike([&] {
          static_cast<void>(os::shard_map<I / X>([](auto array) { return os::own(array); }, same));
        }) == "nothing");
}

TEST_CASE("devices along another mesh axis give the same begin") {
  if (t::ranks() != 4) return;
  auto const mesh = os::make_mesh(X = 2, Y = 2);
  Kokkos::View<double*> const view("v", 7);
  auto const begin = [&](std::int64_t of_last) { return mesh.coordinate(X) == 0 ? 0 : t::rank() == 3 ? of_last : 4; };
  auto const adopt_at = [&](std::int64_t at) {
    static_cast<void>(
        os::from_local<double, os::halo<I, 1> / X>(mesh, I = 7, os::at(I = at), os::strided(view.data(), I = 1)));
  };
  CHECK(t::said_alike([&] { adopt_at(begin(4)); }) == "nothing");
  CHECK(
      t::said_alike([&] { adopt_at(begin(3)); }) ==
      "from_local: os::at gives the global index of the first element that each device owns, but along I = 7 device 3 "
      "gives 3, and device 2, which has the same indices, 4; blocks follow each other without gaps, the first one from "
      "0 on");
}
