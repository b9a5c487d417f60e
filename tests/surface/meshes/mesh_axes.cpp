// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Meshes of twelve axes, of which an operation names seven: wherever axes of more than one device stand, products,
/// moves and halos give the results of plain loops; axes of one device carry nothing.
// ranks: 1 2 4 8
// sham:

#include <doctest/doctest.h>

#include <cstdint>

#include <ostraka/foresight/cost_of.hpp>
#include <ostraka/meshes/dry_mesh.hpp>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

OSTRAKA_MESH_AXIS(A1);
OSTRAKA_MESH_AXIS(A2);
OSTRAKA_MESH_AXIS(A3);
OSTRAKA_MESH_AXIS(A4);
OSTRAKA_MESH_AXIS(A5);
OSTRAKA_MESH_AXIS(A6);
OSTRAKA_MESH_AXIS(A7);
OSTRAKA_MESH_AXIS(A8);
OSTRAKA_MESH_AXIS(A9);
OSTRAKA_MESH_AXIS(A10);
OSTRAKA_MESH_AXIS(A11);
OSTRAKA_MESH_AXIS(A12);

constexpr os::sizes sizes(I = 21, J = 13, K = 9);

double a_at(std::int64_t i, std::int64_t j) { return static_cast<double>((3 * i + 5 * j) % 11 - 5); }
double b_at(std::int64_t j, std::int64_t k) { return static_cast<double>((7 * j + 2 * k) % 13 - 6); }

// f(mesh) with devices along the first axes, the last ones, and some between.
template <class F>
void on_meshes(F const& f) {
  int const n = t::ranks();
  int const x = n >= 2 ? 2 : 1, y = n >= 4 ? 2 : 1, z = n / x / y;
  f(os::make_mesh(A1 = x, A2 = y, A3 = z, A4 = 1, A5 = 1, A6 = 1, A7 = 1, A8 = 1, A9 = 1, A10 = 1, A11 = 1, A12 = 1));
  f(os::make_mesh(A1 = 1, A2 = 1, A3 = 1, A4 = 1, A5 = 1, A6 = z, A7 = y, A8 = 1, A9 = 1, A10 = 1, A11 = 1, A12 = x));
}

template <class C>
void check_product(C const& c) {
  auto const block = t::host_block(c);
  for (std::int64_t i = 0; i < c.range(0).size(); ++i)
    for (std::int64_t k = 0; k < c.range(1).size(); ++k) {
      double sum = 0;
      for (std::int64_t j = 0; j < 13; ++j) sum += a_at(c.range(0).begin + i, j) * b_at(j, c.range(1).begin + k);
      CHECK(block(i, k) == sum);
    }
}

}  // namespace

TEST_CASE("seven mesh axes in one operation") {
  on_meshes([](auto const& m) {
    auto const a = os::generate<double, I / A12 / A1 / A7, J / A6>(m, sizes, [](auto i, auto j) { return a_at(i, j); });
    auto const b = os::generate<double, J / A6, K / A2 / A3>(m, sizes, [](auto j, auto k) { return b_at(j, k); });
    check_product(os::einsum<I / A12 / A1 / A7, K / A2 / A3>(a, b));
    auto const c = os::einsum<I / A12 / A1, K / A2>(a, b);
    check_product(c);
    check_product(os::reshard<I / A1 / A2 / A3 / A6 / A7 / A12 / A9, K>(c));
    check_product(os::reshard<I, K>(os::reshard<I, K / A9 / A12 / A7 / A6 / A3 / A2 / A1>(c)));
  });
}

TEST_CASE("halos along an axis that stands last") {
  on_meshes([](auto const& m) {
    auto const a = os::generate<double, I / A12 / A3>(m, I = 40, [](auto i) { return static_cast<double>(i * i); });
    auto const differences = os::shard_map<I / A12 / A3>(
        [](auto const& u) {
          return os::stencil([](auto const& v) { return v(1) - 2 * v(0) + v(-1); },
                             os::start_exchange_halo<os::halo<I, 1> / A12 / A3>(u, os::periodic));
        },
        a);
    auto const block = t::host_block(differences);
    for (std::int64_t i = 0; i < differences.range(0).size(); ++i) {
      std::int64_t const at = differences.range(0).begin + i, next = (at + 1) % 40, before = (at + 39) % 40;
      CHECK(block(i) == static_cast<double>(next * next - 2 * at * at + before * before));
    }
  });
}

TEST_CASE("a dry mesh of 4,096 devices along twelve axes") {
  auto const m = os::dry_mesh(os::as_device(1234), os::devices_per_node(16), A1 = 2, A2 = 2, A3 = 2, A4 = 2, A5 = 2,
                              A6 = 2, A7 = 2, A8 = 2, A9 = 2, A10 = 2, A11 = 2, A12 = 2);
  CHECK(m.devices() == 4096);
  CHECK(m.within_node(A8) == 1);
  CHECK(m.within_node(A9) == 2);
  auto const c = os::cost_of(m, [&] {
    static_cast<void>(os::reshard<I>(os::zeros<double, I / A1 / A3 / A6 / A8 / A9 / A10 / A12>(m, I = 1 << 14)));
  });
  CHECK(c.bytes == (8 << 14) / 128 * 127);
  CHECK(c.bytes_over(A1, A3, A6, A8, A9, A10, A12) == c.bytes);
  CHECK(c.bytes_between_nodes == (8 << 14) / 128 * 15);  // a part of each other node
}
