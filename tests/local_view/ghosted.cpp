// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// A program's arrays with ghost layers in them, against plain loops: halos that are wider at one end, rings and ends,
/// corners, in every layout, on uneven, narrow and empty blocks; time steps of a class that keeps its arrays.
// labels: essential
// checked: 2 4
// sham:

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "local_view/ghosted.hpp"
#include "support/said_alike.hpp"

namespace os = ostraka;
namespace t = os::testing;

using namespace t::ghosted;

namespace {

// Exchanges in place in every layout, begun and at once, and from a tensor's block.
template <auto HaloI, auto HaloJ, class... Options>
void check_exchange(t::test_mesh const& m, mesh_type const& mesh, both_axes const& a, bool corners,
                    Options const&... options) {
  bool const fits = std::max(a.i.before, a.i.behind) <= a.i.whole && std::max(a.j.before, a.j.behind) <= a.j.whole;
  for (lies const& l : layouts(a)) {
    INFO(m.text(), l.name);
    piece x(l);
    set_own(x, a);
    auto const adopted = [&] {
      return os::from_local<double, HaloI, HaloJ>(mesh, I = a.i.whole, J = a.j.whole, x.strided());
    };
    if (!fits) {
      CHECK_THROWS_AS(static_cast<void>(adopted()), os::error);
      continue;
    }
    auto const u = adopted();
    static_assert(std::is_same_v<decltype(u), os::ghosted_array<double, HaloI, HaloJ> const>);
    CHECK(u.local().data() == x.memory.data() + x.place(0, 0));
    CHECK(u.extent(I) == a.i.own());
    CHECK(u.global_offset(J) == a.j.begin);
    CHECK(u.extents()[0] == a.i.padded());
    os::exchange_halo_into<HaloI, HaloJ>(u, options...);
    CHECK(wrong(x, a, corners) == 0);
    set_own(x, a);
    auto pending = os::start_exchange_halo_into<HaloI, HaloJ>(u, options...);
    pending.test();
    auto const same = std::move(pending).wait();
    CHECK(wrong(x, a, corners) == 0);
    CHECK(same.local().data() == u.local().data());

    // From a tensor, whose block also fills the array's own part.
    for_each_padded(a, [&](std::int64_t p, std::int64_t q) { x.at(p, q) = beyond_end; });
    x.memory.send();
    auto const whole = os::generate<double, I / X, J / Y>(
        mesh, I = a.i.whole, J = a.j.whole,
        KOKKOS_LAMBDA(std::int64_t i, std::int64_t j) { return static_cast<double>(100 * i + 7 * j + 1); });
    auto const again = os::shard_map<I / X, J / Y>(
        [&](auto block, auto array) {
          static_assert(std::is_same_v<decltype(array), std::remove_const_t<decltype(u)>>);
          os::exchange_halo_into<HaloI, HaloJ>(array, block, options...);
          return os::own(array);
        },
        whole, u);
    CHECK(wrong(x, a, corners) == 0);
    CHECK(t::wrong_elements(again, value_at) == 0);
  }
}

}  // namespace

TEST_CASE("the type of a padded axis that is wider at one end") {
  static_assert(os::halo_axis<I_axis, 2, 1>::name == "I(2,1)");
  static_assert(os::halo_axis<I_axis, 2>::name == "I(2)");
  static_assert(os::halo_axis<I_axis, 10, 0>::name == "I(10,0)");
  static_assert(std::is_same_v<os::halo_axis<I_axis, 2>, os::halo_axis<I_axis, 2, 2>>);
  using array = os::ghosted_array<double, os::halo<I, 1> / X, J, os::halo<K, 0, 2> / Y>;
  static_assert(
      std::is_same_v<array::sharding_type, os::sharding_of<os::halo<I, 1>, J, os::halo<K, 0, 2>, os::varying(X, Y)>>);
}

TEST_CASE("halos of arrays in every layout") {
  on_all([](t::test_mesh const& m, mesh_type const& mesh, std::int64_t n, std::int64_t k) {
    auto const axes = [&](int v, int w, bool ri, int y, int z, bool rj) {
      return both_axes{here(m, "X", n, v, w, ri), here(m, "Y", k, y, z, rj)};
    };
    check_exchange<os::halo<I, 1> / X, os::halo<J, 1> / Y>(m, mesh, axes(1, 1, false, 1, 1, false), true);
    check_exchange<os::halo<I, 1> / X, os::halo<J, 1> / Y>(m, mesh, axes(1, 1, true, 1, 1, true), true, os::periodic);
    check_exchange<os::halo<I, 2, 1> / X, os::halo<J, 0, 3> / Y>(m, mesh, axes(2, 1, false, 0, 3, false), true);
    check_exchange<os::halo<I, 2, 1> / X, os::halo<J, 0, 3> / Y>(m, mesh, axes(2, 1, true, 0, 3, true), true,
                                                                 os::periodic);
    check_exchange<os::halo<I, 1, 2> / X, os::halo<J, 2> / Y>(m, mesh, axes(1, 2, false, 2, 2, true), false, os::faces,
                                                              os::periodic(J));
  });
}

TEST_CASE("the halo of a tensor's block that is wider at one end") {
  on_all([](t::test_mesh const& m, mesh_type const& mesh, std::int64_t n, std::int64_t k) {
    if (n < 2 || k < 3) return;
    both_axes const a{here(m, "X", n, 2, 1, true), here(m, "Y", k, 0, 3, false)};
    auto const whole = os::generate<double, I / X, J / Y>(
        mesh, I = n, J = k,
        KOKKOS_LAMBDA(std::int64_t i, std::int64_t j) { return static_cast<double>(100 * i + 7 * j + 1); });
    auto const taken = os::shard_map<I / X, J / Y>(
        [&](auto block) {
          auto const u = os::exchange_halo<os::halo<I, 2, 1> / X, os::halo<J, 0, 3> / Y>(block, os::periodic(I),
                                                                                         os::boundary = beyond_end);
          auto const got = t::read_elements<double>(u.local().data(), u.local().size());
          CHECK(got.size() == static_cast<std::size_t>(a.i.padded() * a.j.padded()));
          std::int64_t bad = 0;
          for_each_padded(a, [&](std::int64_t p, std::int64_t q) {
            double const wanted = a.j.index(q) < 0 ? beyond_end : value_at(a.i.index(p), a.j.index(q));
            bad += got[static_cast<std::size_t>(p * a.j.padded() + q)] == wanted ? 0 : 1;
          });
          CHECK(bad == 0);
          return os::own(u);
        },
        whole);
    CHECK(t::wrong_elements(taken, value_at) == 0);
  });
}

TEST_CASE("stencils of arrays, into arrays of other layouts and into blocks") {
  on_all([](t::test_mesh const& m, mesh_type const& mesh, std::int64_t n, std::int64_t k) {
    if (n < 2 || k < 1) return;
    both_axes const a{here(m, "X", n, 2, 1, true), here(m, "Y", k, 0, 1, true)};
    auto const wanted = lopsided_on_rings(n, k);
    auto const all = layouts(a);
    for (std::size_t from = 0; from < all.size(); ++from) {
      INFO(all[from].name);
      piece x(all[from]), y(all[(from + 2) % all.size()]);
      set_own(x, a);
      for_each_padded(a, [&](std::int64_t p, std::int64_t q) { y.at(p, q) = beyond_end; });
      y.memory.send();
      auto const adopt = [&](auto const& memory) {
        return os::from_local<double, os::halo<I, 2, 1> / X, os::halo<J, 0, 1> / Y>(mesh, I = n, J = k, memory);
      };
      auto const u = adopt(x.strided()), v = adopt(y.strided());
      os::stencil_into(v, lopsided,
                       os::start_exchange_halo_into<os::halo<I, 2, 1> / X, os::halo<J, 0, 1> / Y>(u, os::periodic));
      CHECK(wrong_own(y, a, wanted) == 0);
      auto const sum = os::shard_map<I / X, J / Y>([&](auto array) { return os::stencil(lopsided, array); }, u);
      CHECK(t::wrong_elements(sum, wanted) == 0);
      auto const own = os::shard_map<I / X, J / Y>([&](auto array) { return os::own(array); }, v);
      CHECK(t::wrong_elements(own, wanted) == 0);
      CHECK(t::said_alike([&] { os::stencil_into(u, lopsided, u); }).find("stencil_into: the result may be one of") ==
            0);
    }
  });
}

TEST_CASE("components that lie between each other are no shared memory") {
  auto const mesh = os::make_mesh(X = t::ranks());
  std::int64_t const n = 2 * t::ranks() + 1;
  axis_here const i(n, t::rank(), t::ranks(), 1, 1, true);
  t::program_array<double> const fields(static_cast<std::size_t>(2 * i.padded()));
  for (std::int64_t p = 1; p <= i.own(); ++p) fields[static_cast<std::size_t>(2 * p)] = value_at(i.index(p), 0);
  fields.send();
  auto const u = os::from_local<double, os::halo<I, 1> / X>(mesh, I = n, os::strided(fields.data(), I = 2));
  auto const v = os::from_local<double, os::halo<I, 1> / X>(mesh, I = n, os::strided(fields.data() + 1, I = 2));
  os::exchange_halo_into<os::halo<I, 1> / X>(u, os::periodic);
  os::stencil_into(
      v, [](auto const& x) { return x(1) - x(-1); }, u);
  fields.fetch();
  for (std::int64_t p = 1; p <= i.own(); ++p)
    CHECK(fields[static_cast<std::size_t>(2 * p + 1)] == value_at(i.index(p + 1), 0) - value_at(i.index(p - 1), 0));
}

TEST_CASE("views of Kokkos are kept alive; three axes, one of them without ghost layers") {
  on_all([](t::test_mesh const& m, mesh_type const& mesh, std::int64_t n, std::int64_t k) {
    if (n < 1 || k < 1) return;
    both_axes const a{here(m, "X", n, 1, 1, false), here(m, "Z", k, 1, 1, true)};
    auto const rows = static_cast<std::size_t>(a.i.padded()), columns = static_cast<std::size_t>(a.j.padded());
    auto const check = [&]<class Layout>(Layout) {
      using view_type = Kokkos::View<double***, Layout>;
      os::ghosted_array<double, os::halo<I, 1> / X, B, os::halo<J, 1> / Z> u;
      {
        view_type const view("u", rows, 2, columns);
        auto const here = Kokkos::create_mirror_view(view);
        Kokkos::deep_copy(here, beyond_end);
        for (std::size_t p = 1; p + 1 < rows; ++p)
          for (std::size_t b = 0; b < 2; ++b)
            for (std::size_t q = 1; q + 1 < columns; ++q)
              here(p, b, q) = value_at(a.i.index(std::int64_t(p)), a.j.index(std::int64_t(q))) + double(b) / 2;
        Kokkos::deep_copy(view, here);
        u = os::from_local<double, os::halo<I, 1> / X, B, os::halo<J, 1> / Z>(mesh, I = n, B = 2, J = k, view);
        CHECK(u.local().data() == view.data());
        CHECK(u.local().use_count() > 1);
      }
      os::exchange_halo_into<os::halo<I, 1> / X, os::halo<J, 1> / Z>(u, os::periodic(J));
      auto const got = t::host_block(u);
      std::int64_t bad = 0;
      for (std::size_t p = 0; p < rows; ++p)
        for (std::size_t b = 0; b < 2; ++b)
          for (std::size_t q = 0; q < columns; ++q) {
            std::int64_t const i = a.i.index(std::int64_t(p));
            bad +=
                got(p, b, q) == (i < 0 ? beyond_end : value_at(i, a.j.index(std::int64_t(q))) + double(b) / 2) ? 0 : 1;
          }
      CHECK(bad == 0);
    };
    check(Kokkos::LayoutRight{});
    check(Kokkos::LayoutLeft{});
  });
}

namespace {

// A code that keeps its arrays, and a tensor's padded block beside them, from one body to the next.
class heat {
 public:
  heat(mesh_type const& mesh, std::int64_t n, std::int64_t k, double* now, double* next)
      : now_(os::from_local<double, os::halo<I, 1> / X, os::halo<J, 1> / Y>(mesh, I = n, J = k, list(mesh, n, k, now))),
        next_(os::from_local<double, os::halo<I, 1> / X, os::halo<J, 1> / Y>(mesh, I = n, J = k,
                                                                             list(mesh, n, k, next))) {}

  void step() {
    os::stencil_into(
        next_, [](auto const& u) { return u(1, 0) + u(0, -1) - 2 * u(0, 0); },
        os::start_exchange_halo_into<os::halo<I, 1> / X, os::halo<J, 1> / Y>(now_, os::faces, os::periodic));
    std::swap(now_, next_);
  }
  auto result() const {
    return os::shard_map<I / X, J / Y>([](auto u) { return os::own(u); }, now_);
  }

 private:
  static os::strided_memory<double, I_axis, J_axis> list(mesh_type const& mesh, std::int64_t, std::int64_t k,
                                                         double* p) {
    std::int64_t const y = mesh.coordinate(Y), ways = mesh.size(Y);
    return os::strided(p, I = (y + 1) * k / ways - y * k / ways + 2, J = 1);
  }
  os::ghosted_array<double, os::halo<I, 1> / X, os::halo<J, 1> / Y> now_, next_;
};

}  // namespace

TEST_CASE("a class keeps its arrays, and padded blocks of tensors, between bodies") {
  on_all([](t::test_mesh const& m, mesh_type const& mesh, std::int64_t n, std::int64_t k) {
    if (n < 1 || k < 1) return;
    both_axes const a{here(m, "X", n, 1, 1, true), here(m, "Y", k, 1, 1, true)};
    piece x(layouts(a)[0]), y(layouts(a)[0]);
    set_own(x, a);
    heat code(mesh, n, k, x.memory.data(), y.memory.data());
    std::vector<double> wanted, before;
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < k; ++j) wanted.push_back(value_at(i, j));
    auto const element = [&](std::vector<double> const& of, std::int64_t i, std::int64_t j) {
      return of[static_cast<std::size_t>((i + n) % n * k + (j + k) % k)];
    };
    // The same with a block that a body returns.
    os::tensor<double, os::halo<I, 1>, os::halo<J, 1>, os::varying(X, Y)> kept;
    os::shard_map<I / X, J / Y>(
        [&](auto block) {
          kept = os::exchange_halo<os::halo<I, 1> / X, os::halo<J, 1> / Y>(block, os::periodic);
          return block;
        },
        code.result());
    for (int s = 0; s < 3; ++s) {
      before = wanted;
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < k; ++j)
          wanted[static_cast<std::size_t>(i * k + j)] =
              element(before, i + 1, j) + element(before, i, j - 1) - 2 * element(before, i, j);
      code.step();
      auto const next = os::zeros_like(kept);
      os::stencil_into(
          next, [](auto const& u) { return u(1, 0) + u(0, -1) - 2 * u(0, 0); }, kept);
      kept = next;
      os::exchange_halo_into<os::halo<I, 1> / X, os::halo<J, 1> / Y>(kept, os::periodic);
    }
    auto const is_wanted = [&](std::int64_t i, std::int64_t j) { return element(wanted, i, j); };
    CHECK(t::wrong_elements(code.result(), is_wanted) == 0);
    auto const own = os::shard_map<I / X, J / Y>([&](auto) { return os::own(kept); }, code.result());
    CHECK(t::wrong_elements(own, is_wanted) == 0);
  });
}

#if OSTRAKA_ENABLE_MPI
TEST_CASE("a process that is none of the mesh's devices has an empty array") {
  int const devices = t::ranks() - 1;
  if (devices == 0) return;
  MPI_Comm part;
  MPI_Comm_split(MPI_COMM_WORLD, t::rank() < devices ? 0 : MPI_UNDEFINED, t::rank(), &part);
  {
    auto const mesh = os::make_mesh(part, X = devices);
    std::int64_t const n = 2 * devices + 1;
    axis_here const i(n, mesh.absent() ? 0 : t::rank(), devices, 1, 1, true);
    t::program_array<double> const one(mesh.absent() ? 0 : static_cast<std::size_t>(3 * i.padded())), other(one.size());
    for (std::int64_t p = 1; p <= i.own() && !mesh.absent(); ++p)
      for (std::int64_t j = 0; j < 3; ++j) one[static_cast<std::size_t>(3 * p + j)] = value_at(i.index(p), j);
    one.send();
    auto const u =
        os::from_local<double, os::halo<I, 1> / X, J>(mesh, I = n, J = 3, os::strided(one.data(), I = 3, J = 1));
    auto const v =
        os::from_local<double, os::halo<I, 1> / X, J>(mesh, I = n, J = 3, os::strided(other.data(), I = 3, J = 1));
    os::stencil_into(
        v, [](auto const& x) { return x(1) - x(-1); },
        os::start_exchange_halo_into<os::halo<I, 1> / X>(u, os::periodic));
    auto const whole = os::shard_map<I / X, J>([](auto array) { return os::own(array); }, v);
    CHECK(whole.extent(I) == n);
    CHECK(t::wrong_elements(whole, [&](std::int64_t at, std::int64_t j) {
            return value_at((at + 1) % n, j) - value_at((at + n - 1) % n, j);
          }) == 0);
  }
  if (part != MPI_COMM_NULL) MPI_Comm_free(&part);
}
#endif
