// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 4
// sham:

/// @file
/// The regions that a tool of Kokkos sees: one for each operation, one within it for each step, with the bytes. The
/// bytes of the steps were worked out by hand.

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

using os::dims;

namespace {

using names = std::vector<std::string>;

names recorded;  // since the tool was last asked, two spaces for each region around
int depth = 0;

void listen() {
  using namespace Kokkos::Tools::Experimental;
  set_push_region_callback(
      [](char const* name) { recorded.push_back(std::string(2 * static_cast<std::size_t>(depth++), ' ') + name); });
  set_pop_region_callback([] { --depth; });
}

void stop_listening() {
  using namespace Kokkos::Tools::Experimental;
  set_push_region_callback(nullptr);
  set_pop_region_callback(nullptr);
}

// True if the operation opens these regions, and closes all of them.
template <class Operation>
names regions_of(Operation&& operation) {
  recorded.clear();
  operation();
  CHECK(depth == 0);
  return recorded;
}

std::string bytes(std::int64_t n) { return ostraka::planner::describe_bytes(n); }

}  // namespace

TEST_CASE("operations and their steps") {
  int const n = t::ranks();
  auto const mesh = os::make_mesh(X = n, Y = 1);
  listen();
  os::tensor<float, I, J/X> a;
  os::tensor<float, J/X, K> b;
  os::tensor<float, I/X, K> c;
  CHECK(regions_of([&] { a = os::random<float, I, J/X>(mesh, I = 24, J = 8); }) ==
        names{"ostraka random [I, J_X], writes " + bytes(24 * 8 * 4 / n)});
  CHECK(regions_of([&] {
          b = os::generate<float, J/X, K>(
              mesh, J = 8, K = 4, KOKKOS_LAMBDA(std::int64_t, std::int64_t) { return 2.f; });
        }) == names{"ostraka generate [J_X, K], writes " + bytes(8 * 4 * 4 / n)});

  // The sums of n devices are scattered: each sends what others keep.
  std::string const scattered = bytes((n - 1) * 24 * 4 * 4 / n);
  CHECK(regions_of([&] { c = os::einsum<I/X, K>(a, b); }) ==
        names{"ostraka einsum C[I_X, K] = A[I, J_X] · B[J_X, K], moves " + scattered,
              "  ostraka contract, " + ostraka::planner::describe_number(2 * 24 * 8 / n * 4) + " flop",
              "  ostraka reduce_scatter<X>, moves " + scattered});
  std::string const gathered = bytes((n - 1) * 24 / n * 4 * 4);
  CHECK(
      regions_of([&] { static_cast<void>(os::all_gather<X>(c)); }) ==
      names{"ostraka all_gather B[I, K] = A[I_X, K], moves " + gathered, "  ostraka all_gather<X>, moves " + gathered});
  std::string const exchanged = bytes((n - 1) * 24 * 4 * 4 / n / n);
  CHECK(regions_of([&] { static_cast<void>(os::reshard<I, K/X>(c)); }) ==
        names{"ostraka reshard B[I, K_X] = A[I_X, K], moves " + exchanged,
              "  ostraka all_to_all<X>, moves " + exchanged});
  CHECK(regions_of([&] { static_cast<void>(os::sum<K>(c)); }) ==
        names{"ostraka sum B[K] = A[I_X, K], moves " + bytes(2 * (n - 1) * 4 * 4 / n), "  ostraka contract",
              "  ostraka all_reduce<X>, moves " + bytes(2 * (n - 1) * 4 * 4 / n)});

  // A repeated operand is read once: 24 · 4 elements are written, 24 · 4 and 4 are read.
  auto const row = os::ones<float, K>(mesh, K = 4);
  std::string const met = bytes(24 / n * 4 * 4 * 2 + 4 * 4);
  CHECK(regions_of([&] { static_cast<void>(os::map(KOKKOS_LAMBDA(float x, float y) { return x + y; }, c, row)); }) ==
        names{"ostraka map [I_X, K], reads and writes " + met});
  CHECK(regions_of([&] { static_cast<void>(os::multiply(c, row)); }) ==
        names{"ostraka multiply [I_X, K], reads and writes " + met});
  CHECK(regions_of([&] {
          os::map_into(
              c, KOKKOS_LAMBDA(float x) { return x; }, row);
        }) == names{"ostraka map_into [I_X, K], reads and writes " + bytes(24 / n * 4 * 4 + 4 * 4)});
  CHECK(regions_of([&] { static_cast<void>(os::cast<double>(row)); }) ==
        names{"ostraka cast [K], reads and writes " + bytes(4 * 4 + 4 * 8)});
  CHECK(regions_of([&] { static_cast<void>(os::copy(row)); }) ==
        names{"ostraka copy [K], reads and writes " + bytes(2 * 4 * 4)});
  os::shard_map<I>(
      [&](auto block) {
        auto const padded = os::exchange_halo<os::halo<I, 1>/X>(os::pvary<X>(block));
        CHECK(regions_of([&] { static_cast<void>(os::own(padded)); }) ==
              names{"ostraka own [I], reads and writes 192 B"});
        return block;
      },
      os::zeros<float, I>(mesh, I = 24));
  CHECK(regions_of([&] { static_cast<void>(os::zeros_like(row)); }) ==
        names{"ostraka zeros_like [K], writes " + bytes(4 * 4)});
  CHECK(regions_of([&] { static_cast<void>(os::full<double>(mesh, 1)); }) == names{"ostraka full [], writes 8 B"});
  CHECK(regions_of([&] { static_cast<void>(os::gather_to_root(c)); }) ==
        names{"ostraka gather_to_root [I_X, K], 384 B on device 0"});
  std::vector<float> const whole(24);
  CHECK(regions_of([&] { static_cast<void>(os::scatter_from_root<float, I/X>(mesh, I = 24, whole)); }) ==
        names{"ostraka scatter_from_root [I_X], 96 B on device 0"});
  stop_listening();
}

TEST_CASE("between meshes") {
  int const n = t::ranks();
  auto const mesh = os::make_mesh(X = n);
  auto const other = os::make_mesh(Y = n);
  auto const a = os::zeros<float, I/X>(mesh, I = 24);
  auto const b = os::reshard<I>(a, other);  // the meshes have met
  listen();
  std::string const moved = bytes((n - 1) * 24 / n * 4);
  std::string const m = std::to_string(n);
  CHECK(regions_of([&] { static_cast<void>(os::reshard<I>(a, other)); }) ==
        names{"ostraka reshard from X=" + m + " to Y=" + m + ", moves " + moved,
              "  ostraka block_exchange, moves " + moved});
  stop_listening();
}

TEST_CASE("a move that is one with a product is reported with it, and once") {
  int const n = t::ranks();
  auto const mesh = os::make_mesh(X = n);
  auto const a = os::random<double, I/X, J>(mesh, I = 256, J = 512);
  auto const b = os::random<double, J, K/X>(mesh, J = 512, K = 512);
  constexpr auto plan = os::plan<I/X, K>(a, b);
  listen();
  names const regions = regions_of([&] { static_cast<void>(os::einsum<I/X, K>(a, b)); });
  stop_listening();
  int found = 0;
  for (std::size_t i = 1; i < regions.size(); ++i)
    found += regions[i].find("all_gather<X>, moves " + bytes(plan.bytes(a, b))) != std::string::npos ? 1 : 0;
  CHECK(plan.communications() == 1);
  CHECK(found == 1);
  CHECK(regions.front().find(", moves " + bytes(plan.bytes(a, b))) != std::string::npos);
  MESSAGE(regions.back());
}

TEST_CASE("an operation that throws closes its region") {
  auto const mesh = os::make_mesh(X = t::ranks());
  auto const a = os::zeros<float, I/X>(mesh, I = 24);
  listen();
  CHECK_THROWS_AS(static_cast<void>(os::einsum<I>(a, os::zeros<float, I>(mesh, I = 23))), os::error);
  CHECK(depth == 0);
  stop_listening();
}
