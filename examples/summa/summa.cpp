// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// SUMMA (van de Geijn and Watts, 1997): C[I_X, K_Y] = A[I_X, J_Y] · B[J_X, K_Y] on a grid of devices, a panel of J at
/// a time. The device that has the panel of A's columns broadcasts it along its row of devices, the device that has the
/// panel of B's rows broadcasts it along its column, and all add the product. A device never holds more than two panels
/// of others.
/// The program also prints the planner's plan for the same einsum.
// ranks: 1 2 4 6 8

#include <cstdint>
#include <cstdio>
#include <numeric>

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

/// On blocks: a[I, J] {V_X V_Y}, b[J, K] {V_X V_Y}. A panel is within one block of A's columns and one of B's rows.
auto summa(auto const& a, auto const& b) {
  int const panels = std::lcm(os::axis_size<Y>(a), os::axis_size<X>(b));
  int const of_a = panels / os::axis_size<Y>(a), of_b = panels / os::axis_size<X>(b);    // panels of a device
  auto const panel = [&](int s) {
    auto const columns = os::einsum<I, J>(os::part<J>(a, s % of_a, of_a));
    auto const rows = os::part<J>(b, s % of_b, of_b);
    return std::pair{os::pbroadcast<Y>(columns, s / of_a),    // [I, J] {V_X}
                     os::pbroadcast<X>(rows, s / of_b)};      // [J, K] {V_Y}
  };
  auto const [columns, rows] = panel(0);
  auto c = os::einsum<I, K>(columns, rows);    // [I, K] {V_X V_Y}
  for (int s = 1; s < panels; ++s) {
    auto const [more_columns, more_rows] = panel(s);
    os::einsum_into(c, more_columns, more_rows, os::beta = 1);
  }
  return c;
}

int main(int argc, char** argv) {
  os::testing::count_operations_alone();
  os::environment const env(argc, argv);
  int const x = env.devices() % 2 == 0 ? 2 : 1, y = env.devices() / x;
  auto const mesh = os::make_mesh(X = x, Y = y);
  auto const A = os::generate<double, I/X, J/Y>(mesh, small{0});
  auto const B = os::generate<double, J/X, K/Y>(mesh, small{1});

  auto C = os::zeros<double, I/X, K/Y>(mesh);
  auto const moved = ostraka::testing::traffic_of(
      [&] { C = os::shard_map<I/X, K/Y>([](auto a, auto b) { return summa(a, b); }, A, B); });

  constexpr auto plan = os::plan<I/X, K/Y>(A, B);
  auto D = os::zeros<double, I/X, K/Y>(mesh);
  auto const moved_by_plan = ostraka::testing::traffic_of([&] { D = os::einsum<I/X, K/Y>(A, B); });

  auto const all_a = os::gather_to_root(A), all_b = os::gather_to_root(B);
  auto const all_c = os::gather_to_root(C), all_d = os::gather_to_root(D);
  if (!all_c) return 0;

  // Each panel of A goes to y - 1 other devices, each of B to x - 1.
  auto const bytes = [](auto const& whole) { return static_cast<std::int64_t>(whole.size() * sizeof(double)); };
  bool good = moved.bytes == (y - 1) * bytes(*all_a) + (x - 1) * bytes(*all_b);
  good = good && moved_by_plan.bytes == plan.total_bytes(mesh.sizes());
  for (std::size_t i = 0; i < all_c->extent(0); ++i)
    for (std::size_t k = 0; k < all_c->extent(1); ++k) {
      double sum = 0;
      for (std::size_t j = 0; j < all_a->extent(1); ++j) sum += (*all_a)(i, j) * (*all_b)(j, k);
      good = good && (*all_c)(i, k) == sum && (*all_d)(i, k) == sum;
    }
  auto const devices = static_cast<long long>(env.devices());
  std::printf("SUMMA on %d × %d devices moves %lld B per device, counted; the planner %lld B:\n\n%s\n%s\n", x, y,
              moved.bytes / devices, moved_by_plan.bytes / devices, os::describe(plan, mesh.sizes()).c_str(),
              good ? "PASS" : "FAIL");
  return good ? 0 : 1;
}
