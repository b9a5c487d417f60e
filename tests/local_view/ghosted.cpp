// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// A program's arrays with ghost layers in them, against plain loops: halos that are wider at one end, rings and ends,
/// corners, in every layout, on uneven, narrow and empty blocks; time steps of a class that keeps its arrays; arrays
/// that do not fit. Element (i, j) of the whole is 100 i + 7 j + 1.
// labels: essential
// checked: 2 4

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/on_meshes.hpp"
#include "support/said_alike.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

using mesh_type = os::mesh<X_mesh, Y_mesh, Z_mesh>;

double value_at(std::int64_t i, std::int64_t j) { return static_cast<double>(100 * i + 7 * j + 1); }
constexpr double untouched = -5, beyond_end = -3;

// One axis on this rank: everything follows from the block law, by hand.
struct axis_here {
  std::int64_t whole = 0, begin = 0, end = 0;
  int before = 0, behind = 0;
  bool ring = false;

  axis_here(std::int64_t n, std::int64_t number, std::int64_t ways, int v, int w, bool is_ring)
      : whole(n), begin(number * n / ways), end((number + 1) * n / ways), before(v), behind(w), ring(is_ring) {}

  std::int64_t padded() const { return end - begin + before + behind; }
  std::int64_t own() const { return end - begin; }
  // The global index of padded index p, or −1 beyond the ends.
  std::int64_t index(std::int64_t p) const {
    std::int64_t const g = begin - before + p;
    if (ring) return ((g % whole) + whole) % whole;
    return g < 0 || g >= whole ? -1 : g;
  }
  bool in_margin(std::int64_t p) const { return p < before || p >= before + own(); }
};

struct both_axes {
  axis_here i, j;
};

axis_here here(t::mesh_at_hand const& m, char const* over, std::int64_t n, int before, int behind, bool ring) {
  return {n,   over[0] == '-' ? 0 : m.coordinate(over, t::rank()), over[0] == '-' ? 1 : m.size(over), before, behind,
          ring};
}

// The place of an array's elements in a larger piece of memory: element (p, q) at first + p step_i + q step_j.
struct lies {
  char const* name;
  std::int64_t first, step_i, step_j, size;
};

std::vector<lies> layouts(both_axes const& a) {
  std::int64_t const n = a.i.padded(), m = a.j.padded();
  return {{"row-major", 0, m, 1, n * m},
          {"column-major", 0, 1, n, n * m},
          {"rows with a gap", 2, m + 3, 1, n * (m + 3) + 4},
          {"a component of three", 1, 3 * m, 3, 3 * n * m + 1},
          {"columns with a gap, of every second element", 1, 2, 2 * n + 5, (2 * n + 5) * m + 2}};
}

struct piece {
  lies how;
  std::vector<double> memory;

  piece(lies const& l) : how(l), memory(static_cast<std::size_t>(l.size + 1), untouched) {}
  double& at(std::int64_t p, std::int64_t q) {
    return memory[static_cast<std::size_t>(how.first + p * how.step_i + q * how.step_j)];
  }
  auto strided() { return os::strided(memory.data() + how.first, J = how.step_j, I = how.step_i); }
  std::int64_t count(double what) const {
    std::int64_t n = 0;
    for (double x : memory) n += x == what ? 1 : 0;
    return n;
  }
};

template <class F>
void for_each_padded(both_axes const& a, F const& f) {
  for (std::int64_t p = 0; p < a.i.padded(); ++p)
    for (std::int64_t q = 0; q < a.j.padded(); ++q) f(p, q);
}

void set_own(piece& x, both_axes const& a) {
  for_each_padded(a, [&](std::int64_t p, std::int64_t q) {
    bool const own = !a.i.in_margin(p) && !a.j.in_margin(q);
    x.at(p, q) = own ? value_at(a.i.index(p), a.j.index(q)) : beyond_end;
  });
}

// The number of wrong elements after an exchange.
std::int64_t wrong(piece& x, both_axes const& a, bool corners) {
  std::int64_t bad = 0;
  for_each_padded(a, [&](std::int64_t p, std::int64_t q) {
    bool const left_out = !corners && a.i.in_margin(p) && a.j.in_margin(q);
    bool const is_there = a.i.index(p) >= 0 && a.j.index(q) >= 0 && !left_out;
    bad += x.at(p, q) == (is_there ? value_at(a.i.index(p), a.j.index(q)) : beyond_end) ? 0 : 1;
  });
  return bad + (x.count(untouched) == x.how.size + 1 - a.i.padded() * a.j.padded() ? 0 : 1000);
}

// Calls f on every mesh, with extents from none to some.
template <class F>
void on_all(F const& f) {
  t::on_every_mesh([&](t::mesh_at_hand const& m) {
    for (auto const& [n, k] : {std::pair{0, 3}, {1, 1}, {2, 3}, {3, 2}, {7, 9}, {12, 8}}) {
      INFO(m.text(), "I = ", n, ", J = ", k);
      f(m, mesh_type(m.handle()), std::int64_t{n}, std::int64_t{k});
    }
  });
}

template <class Halo>
inline constexpr int before_of = 0;
template <class A, int Before, int Behind>
inline constexpr int before_of<os::halo_axis<A, Before, Behind>> = Before;
template <class Halo>
inline constexpr int behind_of = 0;
template <class A, int Before, int Behind>
inline constexpr int behind_of<os::halo_axis<A, Before, Behind>> = Behind;

// Exchanges in place in every layout, begun and at once, and from a tensor's block.
template <auto HaloI, auto HaloJ, class... Options>
void check_exchange(t::mesh_at_hand const& m, mesh_type const& mesh, both_axes const& a, bool corners,
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
    CHECK(u.local().data() == &x.at(0, 0));
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
  on_all([](t::mesh_at_hand const& m, mesh_type const& mesh, std::int64_t n, std::int64_t k) {
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
  on_all([](t::mesh_at_hand const& m, mesh_type const& mesh, std::int64_t n, std::int64_t k) {
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
  on_all([](t::mesh_at_hand const& m, mesh_type const& mesh, std::int64_t n, std::int64_t k) {
    if (n < 2 || k < 1) return;
    both_axes const a{here(m, "X", n, 2, 1, true), here(m, "Y", k, 0, 1, true)};
    auto const f = [](auto const& u) { return 2 * u(-2, 0) - u(1, 1) + 3 * u(0, 1) + u(-1, 0); };
    auto const wanted = [&](std::int64_t i, std::int64_t j) {
      auto const at = [&](std::int64_t di, std::int64_t dj) { return value_at((i + di + n) % n, (j + dj + k) % k); };
      return 2 * at(-2, 0) - at(1, 1) + 3 * at(0, 1) + at(-1, 0);
    };
    auto const all = layouts(a);
    for (std::size_t from = 0; from < all.size(); ++from) {
      INFO(all[from].name);
      piece x(all[from]), y(all[(from + 2) % all.size()]);
      set_own(x, a);
      for_each_padded(a, [&](std::int64_t p, std::int64_t q) { y.at(p, q) = beyond_end; });
      auto const adopt = [&](auto const& memory) {
        return os::from_local<double, os::halo<I, 2, 1> / X, os::halo<J, 0, 1> / Y>(mesh, I = n, J = k, memory);
      };
      auto const u = adopt(x.strided()), v = adopt(y.strided());
      os::stencil_into(v, f,
                       os::start_exchange_halo_into<os::halo<I, 2, 1> / X, os::halo<J, 0, 1> / Y>(u, os::periodic));
      std::int64_t bad = 0;
      for_each_padded(a, [&](std::int64_t p, std::int64_t q) {
        bool const own = !a.i.in_margin(p) && !a.j.in_margin(q);
        bad += y.at(p, q) == (own ? wanted(a.i.index(p), a.j.index(q)) : beyond_end) ? 0 : 1;
      });
      CHECK(bad == 0);
      auto const sum = os::shard_map<I / X, J / Y>([&](auto array) { return os::stencil(f, array); }, u);
      CHECK(t::wrong_elements(sum, wanted) == 0);
      auto const own = os::shard_map<I / X, J / Y>([&](auto array) { return os::own(array); }, v);
      CHECK(t::wrong_elements(own, wanted) == 0);
      CHECK(t::said_alike([&] { os::stencil_into(u, f, u); }).find("stencil_into: the result may be one of") == 0);
    }
  });
}

TEST_CASE("components that lie between each other are no shared memory") {
  auto const mesh = os::make_mesh(X = t::ranks());
  std::int64_t const n = 2 * t::ranks() + 1;
  axis_here const i(n, t::rank(), t::ranks(), 1, 1, true);
  std::vector<double> fields(static_cast<std::size_t>(2 * i.padded()));
  for (std::int64_t p = 1; p <= i.own(); ++p) fields[static_cast<std::size_t>(2 * p)] = value_at(i.index(p), 0);
  auto const u = os::from_local<double, os::halo<I, 1> / X>(mesh, I = n, os::strided(fields.data(), I = 2));
  auto const v = os::from_local<double, os::halo<I, 1> / X>(mesh, I = n, os::strided(fields.data() + 1, I = 2));
  os::exchange_halo_into<os::halo<I, 1> / X>(u, os::periodic);
  os::stencil_into(
      v, [](auto const& x) { return x(1) - x(-1); }, u);
  for (std::int64_t p = 1; p <= i.own(); ++p)
    CHECK(fields[static_cast<std::size_t>(2 * p + 1)] == value_at(i.index(p + 1), 0) - value_at(i.index(p - 1), 0));
}

TEST_CASE("views of Kokkos are kept alive; three axes, one of them without ghost layers") {
  on_all([](t::mesh_at_hand const& m, mesh_type const& mesh, std::int64_t n, std::int64_t k) {
    if (n < 1 || k < 1) return;
    both_axes const a{here(m, "X", n, 1, 1, false), here(m, "Z", k, 1, 1, true)};
    auto const rows = static_cast<std::size_t>(a.i.padded()), columns = static_cast<std::size_t>(a.j.padded());
    auto const check = [&]<class Layout>(Layout) {
      using view_type = Kokkos::View<double***, Layout, Kokkos::HostSpace>;
      os::ghosted_array<double, os::halo<I, 1> / X, B, os::halo<J, 1> / Z> u;
      {
        view_type const view("u", rows, 2, columns);
        Kokkos::deep_copy(view, beyond_end);
        for (std::size_t p = 1; p + 1 < rows; ++p)
          for (std::size_t b = 0; b < 2; ++b)
            for (std::size_t q = 1; q + 1 < columns; ++q)
              view(p, b, q) = value_at(a.i.index(std::int64_t(p)), a.j.index(std::int64_t(q))) + double(b) / 2;
        u = os::from_local<double, os::halo<I, 1> / X, B, os::halo<J, 1> / Z>(mesh, I = n, B = 2, J = k, view);
        CHECK(u.local().data() == view.data());
        CHECK(u.local().use_count() > 1);
      }
      os::exchange_halo_into<os::halo<I, 1> / X, os::halo<J, 1> / Z>(u, os::periodic(J));
      std::int64_t bad = 0;
      for (std::size_t p = 0; p < rows; ++p)
        for (std::size_t b = 0; b < 2; ++b)
          for (std::size_t q = 0; q < columns; ++q) {
            std::int64_t const i = a.i.index(std::int64_t(p));
            bad += u.local()(p, b, q) == (i < 0 ? beyond_end : value_at(i, a.j.index(std::int64_t(q))) + double(b) / 2)
                       ? 0
                       : 1;
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
  on_all([](t::mesh_at_hand const& m, mesh_type const& mesh, std::int64_t n, std::int64_t k) {
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
    std::vector<double> one(mesh.absent() ? 0 : static_cast<std::size_t>(3 * i.padded())), other(one.size());
    for (std::int64_t p = 1; p <= i.own() && !mesh.absent(); ++p)
      for (std::int64_t j = 0; j < 3; ++j) one[static_cast<std::size_t>(3 * p + j)] = value_at(i.index(p), j);
    auto const u = os::from_local<double, os::halo<I, 1> / X, J>(mesh, I = n, J = 3, one);
    auto const v = os::from_local<double, os::halo<I, 1> / X, J>(mesh, I = n, J = 3, other);
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

TEST_CASE("what does not fit is said alike") {
  auto const mesh = os::make_mesh(X = t::ranks());
  std::int64_t const n = 2 * t::ranks();
  std::string const last = std::to_string(t::ranks() - 1);
  auto const adopt = [&](std::int64_t rows, std::int64_t columns) {
    Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> const v("v", static_cast<std::size_t>(rows),
                                                                           static_cast<std::size_t>(columns));
    return t::said_alike(
        [&] { static_cast<void>(os::from_local<double, os::halo<I, 1, 2> / X, J>(mesh, I = n, J = 4, v)); });
  };
  std::string const law = "; device d of p holds [floor(d*n/p), floor((d+1)*n/p)) of an extent n";
  std::string const fits =
      "from_local: each view has the extents of its device's block with its ghost layers, but that of device ";
  CHECK(adopt(5, 4) == "nothing");
  CHECK(adopt(2, 4) == fits + "0 has not; device 0 holds 5 elements along dimension 0 and its view has 2" + law);
  CHECK(adopt(t::rank() == t::ranks() - 1 ? 6 : 5, 4) ==
        fits + last + " has not; device " + last + " holds 5 elements along dimension 0 and its view has 6" + law);
  CHECK(adopt(5, t::rank() == t::ranks() - 1 ? 3 : 4) ==
        fits + last + " has not; device " + last + " holds 4 elements along dimension 1 and its view has 3" + law);
  std::vector<double> memory(100);
  CHECK(t::said_alike([&] {
          static_cast<void>(os::from_local<double, os::halo<I, 1, 2> / X, J>(
              mesh, I = n, J = 4, os::strided(memory.data() + 50, I = 4, J = t::rank() == t::ranks() - 1 ? -1 : 1)));
        }) ==
        "from_local: each element has a place of its own, further on than the one before it, but the view of device " +
            last + " has a stride of 0 or a negative one; give one with positive strides");
  CHECK(t::said_alike([&] {
          static_cast<void>(os::from_local<double, os::halo<I, 1> / X, os::halo<J, 0, 5>>(
              mesh, I = n, J = 4, os::strided(memory.data(), I = 9, J = 1)));
        }) ==
        "from_local: a halo is at most as wide as its axis, beyond which there are no neighbours, but J = 4 is to be "
        "padded by 5; choose a smaller width, or a longer axis");
  // Arrays of different extents do not fit together.
  auto const u =
      os::from_local<double, os::halo<I, 1> / X, J>(mesh, I = n, J = 4, os::strided(memory.data(), I = 4, J = 1));
  auto const v =
      os::from_local<double, os::halo<I, 1> / X, J>(mesh, I = n, J = 3, os::strided(memory.data() + 50, I = 3, J = 1));
  CHECK(t::said_alike([&] {
          os::stencil_into(
              v, [](auto const& x) { return x(1); }, u);
        }).find("stencil_into: all blocks have the same extents, halos aside, but J is 4 in one and 3 in another") ==
        0);
}

TEST_CASE("in check mode a stencil's function reads no farther than the wider end") {
  auto const mesh = os::make_mesh(X = t::ranks());
  if (!mesh.handle()->world().compares_calls()) return;
  std::vector<double> memory(16), other(16);
  auto const adopt = [&](std::vector<double>& of) {
    return os::from_local<double, os::halo<I, 2, 0> / X>(mesh, I = 3 * t::ranks(), os::strided(of.data(), I = 1));
  };
  auto const u = adopt(memory), v = adopt(other);
  CHECK(t::said_alike([&] {
          os::stencil_into(
              v, [](auto const& x) { return x(-2) + x(0); }, u);
        }) == "nothing");
  CHECK(t::said_alike([&] {
          os::stencil_into(
              v, [](auto const& x) { return x(-2) + x(1); }, u);
        }) ==
        "stencil_into: f reads no farther than the halo of a block reaches, but it reads u(1) of a halo of 0 along I; "
        "exchange a wider halo, or read a nearer neighbour");
}
