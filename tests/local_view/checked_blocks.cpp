// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Check mode accepts correct programs whose blocks differ from device to device: every operation of a body that
/// devices compare, on blocks that are even, uneven and empty. Values are those of plain loops.
// ranks: 1 2 3 4
// sham:

#include <doctest/doctest.h>

#include <ostraka/operations.hpp>

#include <cstdint>
#include <cstdlib>
#include <type_traits>
#include <vector>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

int const check_mode = ::setenv("OSTRAKA_CHECK_SPMD", "1", 1);

// On X = p, and on X = p/2 beside Y = 2, with extents of I from none to two for each device, and one more.
template <class F>
void on_uneven(F const& f) {
  static_cast<void>(check_mode);
  std::vector<t::mesh_shape> shapes{{"XYZ", {t::ranks(), 1, 1}}};
  if (t::ranks() % 2 == 0) shapes.push_back({"XYZ", {t::ranks() / 2, 2, 1}});
  for (t::mesh_shape const& shape : shapes) {
    t::test_mesh const grid(shape);
    os::mesh<X_mesh, Y_mesh, Z_mesh> const m(grid.handle());
    CHECK(m.handle()->world().compares_calls() == (t::ranks() > 1));
    for (std::int64_t n = 0; n <= 2 * m.size(X) + 1; ++n) {
      INFO(grid.text(), "I = ", n);
      auto const a = os::generate<double, I/X, J>(
          m, I = n, J = 3,
          KOKKOS_LAMBDA(std::int64_t i, std::int64_t j) { return static_cast<double>(10 * i + j + 1); });
      f(m, a, n);
    }
  }
}

// True if element (i, j) of this device's rows is as expected.
template <class A, class F>
void check_rows(A const& a, F const& wanted) {
  auto const first = a.global_offset(I);
  auto const block = t::host_block(a);
  for (std::size_t i = 0; i < block.extent(0); ++i)
    for (std::size_t j = 0; j < block.extent(1); ++j)
      CHECK(block(i, j) == wanted(first + static_cast<std::int64_t>(i), static_cast<std::int64_t>(j)));
}

double element(std::int64_t i, std::int64_t j) { return static_cast<double>(10 * i + j + 1); }

}  // namespace

TEST_CASE("random numbers on blocks, with seeds of the devices' own, too") {
  on_uneven([](auto const& m, auto const& a, std::int64_t) {
    auto const kept = os::shard_map<I/X, J>([](auto const& b) { return os::dropout(b, 0.0, os::seed(3)); }, a);
    check_rows(kept, element);
    auto const dropped = os::shard_map<I/X, J>([](auto const& b) { return os::dropout(b, 0.5, os::seed(3)); }, a);
    for (std::size_t i = 0; i < dropped.local().size(); ++i) {
      double const d = t::host_block(dropped).data()[i];
      CHECK((d == 0 || d == 2 * t::host_block(a).data()[i]));
    }
    auto const own = os::shard_map<I/X, J>(
        [](auto const& b) {
          auto const number = static_cast<std::uint64_t>(os::axis_index<X>(b).value());
          return os::dropout(b, 0.0, os::fold_in(os::seed(3), number));
        },
        a);
    check_rows(own, element);
    auto const noise = os::shard_map<I/X, J>(
        [&](auto const& b) {
          auto const u = os::uniform<double, I, J, os::varying(X)>(m, I = b.extent(I), J = b.extent(J), os::seed(5));
          return os::add(b, os::scale(0.0, u));
        },
        a);
    check_rows(noise, element);
  });
}

TEST_CASE("blocks of the program's own: adopted, copied from and to arrays") {
  on_uneven([](auto const& m, auto const& a, std::int64_t) {
    auto const b = os::shard_map<I/X, J>(
        [&](auto const& block) {
          std::vector<double> memory(block.local().size());
          auto const seen = t::host_block(block);
          for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = 2 * seen.data()[i];
          auto copied = os::copy_from_local<double, I, J, os::varying(X)>(m, I = block.extent(I),
                                                                          J = block.extent(J), memory);
          Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> back("back", copied.local().extent(0),
                                                                              copied.local().extent(1));
          os::copy_to_local(copied, back);
          for (std::size_t i = 0; i < memory.size(); ++i) CHECK(back.data()[i] == memory[i]);
          return copied;
        },
        a);
    check_rows(b, [](std::int64_t i, std::int64_t j) { return 2 * element(i, j); });
  });
}

TEST_CASE("indices along an axis of each device's own extent") {
  on_uneven([](auto const& m, auto const& a, std::int64_t) {
    auto const c = os::shard_map<I/X, J>(
        [&](auto const& b) {
          auto const all = os::iota<std::int32_t, K, os::varying(X)>(m, K = b.extent(I));
          return os::rename<K, I>(os::take<I>(b, all));
        },
        a);
    check_rows(c, element);
  });
}

TEST_CASE("rows, sums, scans and what travels") {
  on_uneven([](auto const& m, auto const& a, std::int64_t n) {
    auto const c = os::shard_map<I/X, J>(
        [](auto const& b) { return os::cumsum<J>(os::sort<J>(os::subtract(b, os::max<I>(b)))); }, a);
    check_rows(c, [](std::int64_t i, std::int64_t j) {
      double sum = 0;
      for (std::int64_t k = 0; k <= j; ++k) sum += element(i, k) - element(i, 2);
      return sum;
    });
    auto const whole = os::shard_map<I, J>([](auto const& b) { return os::all_gather<I/X>(b); }, a);
    check_rows(whole, element);
    auto const sums = os::shard_map<J>([](auto const& b) { return os::psum<X>(os::sum<J>(b)); }, a);
    for (std::size_t j = 0; j < 3; ++j) {
      double wanted = 0;
      for (std::int64_t i = 0; i < n; ++i) wanted += element(i, static_cast<std::int64_t>(j));
      CHECK(t::host_block(sums)(j) == wanted);
    }
    auto const there_and_back = os::shard_map<I/X, J>(
        [](auto const& b) { return os::shift<X>(os::shift<X>(b, 1), -1); }, a);
    check_rows(there_and_back, element);
    auto const first = os::shard_map<J>(
        [](auto const& b) {
          auto const s = os::sum<J>(b);
          os::barrier<X>(s);
          return os::pbroadcast<X>(os::inclusive_scan<X>(s), 0);
        },
        a);
    double wanted = 0;
    for (std::int64_t i = 0; i < n / m.size(X); ++i) wanted += element(i, 0);
    CHECK(t::host_block(first)(0) == wanted);
    if (n > 0) {
      auto const smoothed = os::shard_map<I/X, J>(
          [](auto const& b) {
            return os::stencil([](auto u) { return u(-1) + u(1); }, os::exchange_halo<os::halo<I, 1>/X>(b));
          },
          a);
      check_rows(smoothed, [&](std::int64_t i, std::int64_t j) {
        return (i > 0 ? element(i - 1, j) : 0) + (i + 1 < n ? element(i + 1, j) : 0);
      });
    }
  });
}
