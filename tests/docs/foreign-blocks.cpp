// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The snippets of docs/foreign-blocks.md as the page prints them, run on 4 ranks.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <ostraka/foreign_blocks.hpp>

#include "support/on_meshes.hpp"

namespace os = ostraka;

namespace moving_in {

OSTRAKA_AXIS(I);  OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);  OSTRAKA_MESH_AXIS(Y);

using matrix = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;
using column_major = Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace>;

double start(std::int64_t i, std::int64_t j) { return 0.5 * static_cast<double>(i) - static_cast<double>(j); }

constexpr int n = 13, m = 6;

template <class View>
void set(View const& view, std::int64_t first) {
  for (std::size_t i = 0; i < view.extent(0); ++i)
    for (std::size_t j = 0; j < view.extent(1); ++j)
      view(i, j) = start(first + static_cast<std::int64_t>(i), static_cast<std::int64_t>(j));
}

template <class A>
void check(A const& a) {
  auto const block = a.local();
  for (std::size_t i = 0; i < block.extent(0); ++i)
    for (std::size_t j = 0; j < block.extent(1); ++j)
      CHECK(block(i, j) ==
            start(a.range(0).begin + static_cast<std::int64_t>(i), a.range(1).begin + static_cast<std::int64_t>(j)));
}

TEST_CASE("one box") {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  auto mesh = os::make_mesh(X = ranks);

  int rows = n / ranks + (rank < n % ranks ? 1 : 0);
  int begin = rank * (n / ranks) + std::min(rank, n % ranks);
  matrix view("u", std::size_t(rows), m);
  set(view, begin);

  auto A = os::copy_from_blocks<double, I/X, J>(mesh, I = n, J = m, os::at(I = begin, J = 0), view);
  check(A);
  Kokkos::deep_copy(view, 0);
  os::copy_to_blocks(A, os::at(I = begin, J = 0), view);
  CHECK(view(0, 1) == start(begin, 1));

  int ghosts = 1;
  matrix with_ghosts("u", std::size_t(rows + 2 * ghosts), m);
  auto owned = Kokkos::subview(with_ghosts, std::pair(ghosts, ghosts + rows), Kokkos::ALL);
  os::copy_to_blocks(A, os::at(I = begin), owned);
  CHECK(with_ghosts(1, 1) == start(begin, 1));

  std::vector<double> memory(static_cast<std::size_t>(rows * m));
  os::copy_to_blocks(A, os::at(I = begin), os::sizes(I = rows, J = m), os::strided(memory.data(), I = 1, J = rows));
  CHECK(memory[static_cast<std::size_t>(rows)] == start(begin, 1));

  auto plan = os::plan_blocks<double, I/X, J>(mesh, I = n, J = m, os::at(I = begin), view);
  for (int step = 0; step < 3; ++step) {
    plan.copy_from_into(A, view);
    plan.copy_to(A, view);
  }
  CHECK(plan.bytes_sent_from() <= 8 * rows * m);
  check(A);
}

TEST_CASE("several boxes") {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  auto mesh = os::make_mesh(X = ranks);

  std::vector<decltype(os::placed(os::at(I = 0), matrix()))> patches;
  for (int patch = rank; patch < n; patch += ranks)
    patches.push_back(os::placed(os::at(I = patch), matrix("patch", 1, m)));
  for (auto const& p : patches) set(p.array, p.at.begin.of(I));
  auto A = os::copy_from_blocks<double, I/X, J>(mesh, I = n, J = m, patches);
  check(A);
}

TEST_CASE("ScaLAPACK's arrays") {
  auto mesh = os::make_mesh(X = 2, Y = 2);
  auto A = os::generate<double, I/X, J/Y>(mesh, I = n, J = m, start);
  int context = 0;

  auto cyclic = os::block_cyclic(I = 4, J = 4);
  auto there = os::scalapack_array_of<I/X, J/Y>(mesh, I = n, J = m, cyclic, context);
  std::vector<double> local(there.elements());
  os::copy_to_blocks(A, cyclic, os::strided(local.data(), I = 1, J = there.leading_dimension));
  // pdpotrf_("L", &n, local.data(), &one, &one, there.descriptor.data(), &info);
  auto L = os::copy_from_blocks<double, I/X, J/Y>(mesh, I = n, J = m, cyclic,
                                                  os::strided(local.data(), I = 1, J = there.leading_dimension));
  check(L);

  auto rows_alone = os::copy_from_blocks<double, I/X/Y, J>(
      mesh, I = n, J = m, os::block_cyclic<I/X, J/Y>(I = 4, J = 4),
      os::strided(local.data(), I = 1, J = there.leading_dimension));
  check(rows_alone);
}

}  // namespace moving_in
