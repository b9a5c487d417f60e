// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The first program of the local view: every device multiplies its blocks, and a psum adds up the products along Y.
/// C[I_X, K] = A[I_X, J_Y] · B[J_Y, K], written device by device.
// ranks: 1 2 4 8
// labels: ci

#include "support.hpp"

namespace os = ostraka;

OSTRAKA_AXIS(I);  OSTRAKA_AXIS(J);  OSTRAKA_AXIS(K);  OSTRAKA_MESH_AXIS(X);  OSTRAKA_MESH_AXIS(Y);

int main(int argc, char** argv) {
  os::environment const env(argc, argv);
  int const y = env.devices() % 2 == 0 ? 2 : 1;
  auto const mesh = os::make_mesh(X = env.devices() / y, Y = y);

  auto const A = os::generate<float, I/X, J/Y>(mesh, I = 8, J = 16, counting{16});
  auto const B = os::generate<float, J/Y, K>(mesh, J = 16, K = 4, counting{4});

  auto const C = os::shard_map<I/X, K>([](auto a, auto b) {    // a: float[I, J] {V_X V_Y}, b: float[J, K] {V_Y}
    auto const part = os::einsum<I, K>(a, b);                  // float[I, K] {V_X V_Y}
    return os::psum<Y>(part);                                  // float[I, K] {V_X}
  }, A, B);

  auto const reference = os::einsum<I/X, K>(A, B);    // the same, planned

  verdict v;
  v.expect_product("matmul_basic", A, B, C);
  v.expect_product("planned", A, B, reference);
  if (mesh.device() == 0) std::printf("C is %s\n", os::describe(C).c_str());
  return v.exit_code();
}
