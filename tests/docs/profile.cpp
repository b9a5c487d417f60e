// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The snippets of docs/profile.md as they are printed there, run on 4 ranks; what they come to is checked behind them.

#include <doctest/doctest.h>

#include <cstdio>
#include <string>
#include <vector>

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

}  // namespace profiled
