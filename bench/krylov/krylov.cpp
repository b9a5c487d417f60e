// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Iterations of conjugate gradients for the seven-point operator as examples/cg has them, against the same by hand
/// with Kokkos and MPI (by_hand.hpp). The planes of the grid are divided over the ranks. A run is a start and 20
/// iterations.
///
///     mpirun -n 2 bench/krylov [rounds=15] [json=FILE] [only=TEXT]

#include <mpi.h>

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "../../examples/cg/krylov.hpp"
#include "by_hand.hpp"
#include "job.hpp"
#include "seconds_of_all.hpp"

namespace {

using namespace krylov;

void compare(bench::report& table, bench::arguments const& given, int n) {
  constexpr int iterations = 20;
  std::string const what = std::to_string(n) + "^3 points, " + std::to_string(iterations) + " iterations";
  if (!given.wants(what)) return;
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  auto const mesh = os::make_mesh(X = ranks, Y = 1, Z = 1);
  krylov::grid const points{n, n, n};
  field const x = make_field(mesh, points), b = make_field(mesh, points);
  conjugate_gradients ours(mesh, points);
  by_hand::conjugate_gradients hand(n, n);
  std::size_t const first = static_cast<std::size_t>(b.global_offset(I));
  for (std::size_t i = 1; i + 1 < b.local().extent(0); ++i)
    for (std::size_t j = 1; j + 1 < b.local().extent(1); ++j)
      for (std::size_t k = 1; k + 1 < b.local().extent(2); ++k)
        b.local()(i, j, k) = hand.b()(i, j, k) = double((7 * (i + first) + 5 * j * j + 3 * k) % 11) - 5;
  double rr = 0;
  auto c = bench::compare(what,
                          {{"ours",
                            [&] {
                              ours.start(x, b);
                              for (int s = 0; s < iterations; ++s) rr = ours.step(x);
                            }},
                           {"by hand",
                            [&] {
                              hand.start();
                              for (int s = 0; s < iterations; ++s) hand.step();
                            }}},
                          given.number("rounds", 15), bench::seconds_of_all);
  c.numbers["|r|^2 differs by"] = std::fabs(rr - hand.rr()) / hand.rr();
  table.add(c);
}

}  // namespace

int main(int argc, char** argv) {
  bench::job job("krylov", argc, argv);
  for (int n : {16, 32, 64, 128, 192}) compare(job.out, job.given, n);
}
