// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The snippets of docs/profile.md as the page prints them, run on 4 ranks; the checks of their results are behind
/// them.

#include <doctest/doctest.h>

#include <cstdio>
#include <string>
#include <vector>

#include <ostraka/foresight.hpp>

#include "support/on_meshes.hpp"

namespace os = ostraka;

namespace profiled {

OSTRAKA_AXIS(I);  OSTRAKA_AXIS(J);  OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);

std::string printed;  // by the regions

TEST_CASE("plans, regions") {
  auto mesh = os::make_mesh(X = 4);

  auto T = os::named("T", os::random<float, I, J/X>(mesh, I = 4096, J = 512));
  auto V = os::named("V", os::random<float, J/X, K>(mesh, J = 512, K = 128));
  constexpr auto plan = os::plan<I/X, K>(T, V);
  std::string text = os::describe(plan, T, V);
  CHECK(text ==
        "C[I_X, K] = T[I, J_X] · V[J_X, K]\n"
        "  contract             T[I, J_X] · V[J_X, K] → C[I, K] {U_X}\n"
        "  reduce_scatter<X>    C[I, K] {U_X} → C[I_X, K]                    1,572,864 B\n"
        "  moves 1,572,864 B per device\n");

  std::int64_t moved = plan.bytes(T, V);            // per device; plan.total_bytes(T, V, mesh): of all
  std::int64_t work = plan.flops(T, V);             // of the device with the largest blocks
  std::int64_t beside = plan.workspace(T, V);       // bytes beside operands and result, likewise
  CHECK(moved == 1572864);
  CHECK(work == 2LL * 4096 * 128 * 128);
  CHECK(beside >= 0);

  using namespace Kokkos::Tools::Experimental;
  set_push_region_callback([](char const* name) { printed += name + std::string("\n"); });
  set_pop_region_callback([] {});
  auto A = os::einsum<I/X, K>(T, V);
  auto B = os::map([](float v) { return 2 * v; }, A);
  set_push_region_callback(nullptr);
  set_pop_region_callback(nullptr);
  CHECK(printed.find("ostraka einsum C[I_X, K] = A[I, J_X] · B[J_X, K], moves 1,572,864 B\n") == 0);
  CHECK(printed.find("reduce_scatter<X>, moves 1,572,864 B, 134,217,728 flop\n") != std::string::npos);
  CHECK(printed.find("ostraka map [I_X, K], reads and writes 1,048,576 B\n") != std::string::npos);
  MESSAGE(printed);
  CHECK(B.extent(I) == 4096);
}

TEST_CASE("whole programs") {
  auto step = [](auto const& m) {
    auto h = os::random<float, I/X, J>(m, I = 1 << 20, J = 4096);
    auto w = os::random<float, J/X, K>(m, J = 4096, K = 4096);
    auto a = os::einsum<I/X, K>(h, w);                    // gathers w
  };
  auto dry = os::dry_mesh(X = 4096);                      // this process plays device 0 of 4096
  os::cost const c = os::cost_of(dry, [&] { step(dry); });
  std::printf("%lld bytes, %lld flops, %lld bytes at once\n", (long long)c.bytes, (long long)c.flops,
              (long long)c.peak_memory);
  std::int64_t const whole = std::int64_t{4} * 4096 * 4096, rows = std::int64_t{4} * 256 * 4096;
  CHECK(c.bytes == whole - whole / 4096);
  CHECK(c.bytes_over(X) == c.bytes);
  CHECK(c.flops == std::int64_t{2} * 256 * 4096 * 4096);
  CHECK(c.peak_memory >= whole + 2 * rows);

  auto nodes = os::dry_mesh(os::devices_per_node(8), X = 4096);
  os::cost const n = os::cost_of(nodes, [&] { step(nodes); });
  std::printf("%lld bytes, %lld of them between nodes\n", (long long)n.bytes, (long long)n.bytes_between_nodes);
  CHECK(n.bytes == c.bytes);
  CHECK(n.bytes_between_nodes == whole / 4096 * 511);  // one part from each of the other nodes
}

TEST_CASE("faults between operations") {
  auto twice = [](auto const& m) {
    auto x = os::random<float, I/X, J>(m, I = 4096, J = 512);
    auto A = os::einsum<I, K>(x, os::random<float, J, K>(m, J = 512, K = 128), os::gather_left);
    auto B = os::einsum<I, J>(x, os::zeros<float, J>(m, J = 512), os::gather_left);
  };
  auto small = os::dry_mesh(X = 8);
  for (std::string const& advice : os::advice_of(small, os::machines::h100, [&] { twice(small); }))
    std::puts(advice.c_str());
  auto const all = os::advice_of(small, os::machines::h100, [&] { twice(small); });
  REQUIRE(all.size() == 1);
  CHECK(
      all[0] ==
      "einsum C[I, J] = A[I_X, J] · B[J]: moves A[I_X, J] by all_gather<X>, as it was moved before by `einsum C[I, K] "
      "= A[I_X, J] · B[J, K]`, 7,340,032 B per device; move it once, os::reshard, and give both what comes of it");
}

}  // namespace profiled
