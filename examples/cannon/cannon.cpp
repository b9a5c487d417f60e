// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Cannon's algorithm (1969): C[I_X, K_Y] = A[I_X, J_Y] · B[J_X, K_Y] on a square of n × n devices. Blocks of A rotate
/// along rows of devices and blocks of B along columns, so that two matching blocks meet at each of n steps; before the
/// first step, row x of A is rotated by x, and column y of B by y. A device holds only the blocks that it multiplies
/// and those in flight to it. The program also prints the planner's plan for the same einsum.
// ranks: 1 4

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <utility>

#include <ostraka/ostraka.hpp>

#include "support/byte_counter.hpp"

namespace os = ostraka;

OSTRAKA_AXIS(I, 96);  OSTRAKA_AXIS(J, 144);  OSTRAKA_AXIS(K, 48);
OSTRAKA_MESH_AXIS(X);  OSTRAKA_MESH_AXIS(Y);

/// Whole numbers from -4 to 4, whose sums are exact.
struct small {
  std::int64_t seed;
  KOKKOS_FUNCTION double operator()(std::int64_t i, std::int64_t j) const {
    return static_cast<double>((7 * i + 5 * j + seed) % 9 - 4);
  }
};

/// On blocks: a[I, J] {V_X V_Y}, b[J, K] {V_X V_Y}
template <class A, class B>
auto cannon(A a, B b) {
  int const n = os::axis_size<X>(a);
  a = os::shift<Y>(a, -os::axis_index<X>(a));
  b = os::shift<X>(b, -os::axis_index<Y>(b));
  auto c = os::einsum<I, K>(a, b);
  for (int s = 1; s < n; ++s) {
    a = os::shift<Y>(a, -1);
    b = os::shift<X>(b, -1);
    os::einsum_into(c, a, b, os::beta = 1);
  }
  return c;
}

int main(int argc, char** argv) {
  os::testing::count_operations_alone();
  os::environment const env(argc, argv);
  int const n = static_cast<int>(std::lround(std::sqrt(env.devices())));
  auto const mesh = os::make_mesh(X = n, Y = n);
  auto const A = os::generate<double, I/X, J/Y>(mesh, small{0});
  auto const B = os::generate<double, J/X, K/Y>(mesh, small{1});

  auto C = os::zeros<double, I/X, K/Y>(mesh);
  auto const moved = ostraka::testing::traffic_of(
      [&] { C = os::shard_map<I/X, K/Y>([](auto a, auto b) { return cannon(a, b); }, A, B); });

  constexpr auto plan = os::plan<I/X, K/Y>(A, B);
  auto D = os::zeros<double, I/X, K/Y>(mesh);
  auto const moved_by_plan = ostraka::testing::traffic_of([&] { D = os::einsum<I/X, K/Y>(A, B); });

  auto const all_a = os::gather_to_root(A), all_b = os::gather_to_root(B);
  auto const all_c = os::gather_to_root(C), all_d = os::gather_to_root(D);
  if (!all_c) return 0;

  // n - 1 steps move all of A and all of B; the initial rotation leaves one row of A and one column of B in place.
  auto const operands = static_cast<std::int64_t>((all_a->size() + all_b->size()) * sizeof(double));
  bool good = moved.bytes == operands * (n - 1) + operands * (n - 1) / n;
  good = good && moved_by_plan.bytes == plan.total_bytes(mesh.sizes());
  for (std::size_t i = 0; i < all_c->extent(0); ++i)
    for (std::size_t k = 0; k < all_c->extent(1); ++k) {
      double sum = 0;
      for (std::size_t j = 0; j < all_a->extent(1); ++j) sum += (*all_a)(i, j) * (*all_b)(j, k);
      good = good && (*all_c)(i, k) == sum && (*all_d)(i, k) == sum;
    }
  auto const devices = static_cast<long long>(env.devices());
  std::printf("Cannon on %d × %d devices moves %lld B per device, counted; the planner %lld B:\n\n%s\n%s\n", n, n,
              moved.bytes / devices, moved_by_plan.bytes / devices, os::describe(plan, mesh.sizes()).c_str(),
              good ? "PASS" : "FAIL");
  return good ? 0 : 1;
}
