// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// A matrix divided by rows, w[I_X] = A[I_X, J] · v[J], a reduction, a halo exchange and a file: the whole program of
/// docs/from-kokkos-and-mpi.md.
// ranks: 4

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>

#include <ostraka/files.hpp>
#include <ostraka/operations.hpp>

namespace os = ostraka;
OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);

struct second_difference {
  KOKKOS_FUNCTION double operator()(auto const& p) const { return 2 * p(0) - p(-1) - p(1); }
};

int main(int argc, char** argv) {
  os::environment env(argc, argv);  // begins MPI and Kokkos
  auto mesh = os::make_mesh(X = env.devices());
  int const n = 1001, rank = mesh.device(), ranks = env.devices();
  double const h = std::acos(-1.0) / (n + 1);

  // Your own rows of a matrix: the second difference.
  int const begin = rank * n / ranks, end = (rank + 1) * n / ranks;
  Kokkos::View<double**, Kokkos::LayoutRight> rows("rows", std::size_t(end - begin), n);
  Kokkos::parallel_for("fill", end - begin, KOKKOS_LAMBDA(int row) {
    for (int j = 0; j < n; ++j) rows(row, j) = begin + row == j ? 2 : std::abs(begin + row - j) == 1 ? -1 : 0;
  });
  Kokkos::fence();
  auto A = os::from_local<double, I/X, J>(mesh, I = n, J = n, rows);  // without a copy

  // A product with a vector that every rank has: nothing moves, which the compiler confirms.
  auto v = os::generate<double, J>(mesh, J = n, KOKKOS_LAMBDA(std::int64_t j) { return std::sin(h * double(j + 1)); });
  auto w = os::einsum<I/X>(A, v);
  static_assert(os::plan<I/X>(A, v).communications() == 0);

  // Reductions: an all-reduce of one number each. v is an eigenvector, so the quotient is its eigenvalue.
  double const quotient = std::sqrt(os::value(os::sum<>(w * w)) / os::value(os::sum<>(v * v)));
  double const eigenvalue = 2 - 2 * std::cos(h);

  // The same without the matrix: each rank gets one element of either neighbour.
  auto u = os::reshard<I/X>(os::rename<J, I>(v));
  auto same = os::shard_map<I/X>([](auto block) {
    auto padded = os::exchange_halo<os::halo<I, 1>/X>(block);
    return os::stencil(second_difference{}, padded);
  }, u);
  double const difference = os::value(os::max<>(os::abs(same - w)));

  os::save("w.npy", w);  // numpy.load("w.npy"): all 1001 numbers
  auto read = os::load<double, I/X>("w.npy", mesh);
  double const lost = os::value(os::max<>(os::abs(read - w)));

  if (rank == 0) {
    std::printf("%s\n", os::describe(w).c_str());
    std::printf("eigenvalue %.12f, expected %.12f; by halos %.0e; read %.0e\n", quotient, eigenvalue, difference, lost);
  }
  return std::abs(quotient - eigenvalue) < 1e-14 && difference < 1e-14 && lost == 0 ? 0 : 1;
}
