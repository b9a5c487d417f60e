// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The four cases of a sharded matrix product, C[I, K] = A[I, J] · B[J, K]: the communication of each, and a check of
/// the result.

#include <cmath>
#include <cstdint>
#include <cstdio>

#include <ostraka/ostraka.hpp>

namespace os = ostraka;

OSTRAKA_AXIS(I);  OSTRAKA_AXIS(J);  OSTRAKA_AXIS(K);  OSTRAKA_MESH_AXIS(X);  OSTRAKA_MESH_AXIS(Y);

bool good = true;

/// Compares C with a product in plain loops, on device 0.
void check(auto const& A, auto const& B, auto const& C) {
  auto const all_a = os::gather_to_root(A), all_b = os::gather_to_root(B), all_c = os::gather_to_root(C);
  if (!all_c) return;
  auto const &a = *all_a, &b = *all_b, &c = *all_c;
  for (std::size_t i = 0; i < c.extent(0); ++i)
    for (std::size_t k = 0; k < c.extent(1); ++k) {
      double sum = 0;
      for (std::size_t j = 0; j < a.extent(1); ++j) sum += a(i, j) * b(j, k);
      good = good && std::abs(c(i, k) - sum) < 1e-12 * sum;
    }
}

int main(int argc, char** argv) {
  os::environment const env(argc, argv);
  int const x = env.devices() % 2 == 0 ? 2 : 1;
  auto const mesh = os::make_mesh(X = x, Y = env.devices() / x);
  auto const n = os::sizes(I = 60, J = 100, K = 70);
  auto const show = [&](char const* title, auto const& plan) {
    if (mesh.device() == 0) std::printf("%s\n%s\n", title, os::describe(plan, n, mesh.sizes()).c_str());
  };

  {  // 1. A[I_X, J] · B[J, K_Y]
    auto A = os::random<double, I/X, J>(mesh, n, os::seed(1));
    auto B = os::random<double, J, K/Y>(mesh, n, os::seed(2));
    show("1. Nothing that is summed over is split: free.", os::plan<I/X, K/Y>(A, B));
    check(A, B, os::contract<J>(A, B));  // no named result: only one sharding of it moves nothing
  }
  {  // 2. A[I, J_X] · B[J, K]
    auto A = os::random<double, I, J/X>(mesh, n, os::seed(1));
    auto B = os::random<double, J, K>(mesh, n, os::seed(2));
    show("2. One operand is split along what is summed over: gather it, and multiply all of it everywhere,",
         os::plan<I, K>(A, B, os::gather_left));
    check(A, B, os::einsum<I, K>(A, B, os::gather_left));
    show("   or cut the other alike, which is free, and reduce,", os::plan<I, K>(A, B, os::reduce_result));
    check(A, B, os::einsum<I, K>(A, B, os::reduce_result));
    show(
        "   or exchange columns for rows and gather the result: by moves and work together the cheapest for square "
        "matrices.",
        os::plan<I, K>(A, B));
    check(A, B, os::einsum<I, K>(A, B));
  }
  {  // 3. A[I, J_X] · B[J_X, K]
    auto A = os::random<double, I, J/X>(mesh, n, os::seed(1));
    auto B = os::random<double, J/X, K>(mesh, n, os::seed(2));
    auto C = os::einsum<I, K, os::partial(X)>(A, B);
    show("3. Both are split alike along what is summed over: each device has a summand, C[I, K] {U_X}.",
         os::plan<I, K, os::partial(X)>(A, B));
    check(A, B, os::all_reduce<X>(C));
    check(A, B, os::reduce_scatter<K/X>(C));
    show("   Asked for at once, with all of it everywhere:", os::plan<I, K>(A, B));
    check(A, B, os::einsum<I, K>(A, B));
    show("   or, at half the price, divided again:", os::plan<I, K/X>(A, B));
    check(A, B, os::einsum<I, K/X>(A, B));
  }
  {  // 4. A[I_X, J] · B[J, K_X]
    auto A = os::random<double, I/X, J>(mesh, n, os::seed(1));
    auto B = os::random<double, J, K/X>(mesh, n, os::seed(2));
#ifdef SHOULD_FAIL  // does not compile; the tests see to it that the compiler says this
    auto C = os::contract<J>(A, B);
    // error: contract: a mesh axis divides an outer axis of both operands, so that a device would hold only the
    // diagonal blocks; error: name the result with os::einsum to authorise an all-gather of either operand (moves
    // (n-1)/n of it), error: or an all-to-all of both to a contracted axis (moves (n-1)/n^2 of each) and a reduction of
    // the result error: outer_axes_meet<I_axis, K_axis, X_mesh>
#endif
    show("4. Both outer axes are split over the same mesh axis: not possible as it stands; gather one.",
         os::plan<I/X, K>(A, B));
    check(A, B, os::einsum<I/X, K>(A, B));
  }
  if (mesh.device() == 0) std::printf("Every product is that of plain loops: %s\n", good ? "PASS" : "FAIL");
  return good ? 0 : 1;
}
