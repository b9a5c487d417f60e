// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The work of one combination of ranks and threads. Each rank computes its rows: products C[I_X, K] = A[I_X, J] ·
/// B[J, K] (BLAS), and products that alternate with elementwise maps (Kokkos), where BLAS and Kokkos disturb each other
/// unless they share their threads. Nothing is communicated. threads.py starts it and compares the combinations.
///
///     mpirun -n 2 bench/threads [extent=1024] [small=256] [rounds=5]

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <vector>

#include <ostraka/ostraka.hpp>

#include "report.hpp"
#include "seconds_of_all.hpp"

namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);

namespace {

struct halved {
  KOKKOS_INLINE_FUNCTION double operator()(double x) const { return 0.5 * x; }
};

double median(std::function<void()> const& run, int repeats, int rounds) {
  std::vector<double> seconds;
  for (int r = -1; r < rounds; ++r) {
    double const s = bench::seconds_of_all(run, repeats) / repeats;
    if (r >= 0) seconds.push_back(s);
  }
  return bench::spread_of(seconds).median;
}

// Products of this extent, with or without a map after each.
std::function<void()> job(os::environment const& env, std::int64_t extent, bool maps) {
  auto const mesh = os::make_mesh(X = env.devices());
  auto const sizes = os::sizes(I = extent, J = extent, K = extent);
  auto const a = os::random<double, I/X, J>(mesh, sizes, os::seed(1));
  auto const b = os::random<double, J, K>(mesh, sizes, os::seed(2));
  auto const c = os::zeros<double, I/X, K>(mesh, sizes);
  return [=] {
    os::einsum_into(c, a, b);
    if (maps) static_cast<void>(os::map(halved{}, c));
  };
}

}  // namespace

int main(int argc, char** argv) {
  os::environment const env(argc, argv);
  bench::arguments const given(argc, argv);
  int const rounds = given.number("rounds", 5);
  double const product = median(job(env, given.number("extent", 1024), false), 1, rounds);
  double const turns = median(job(env, given.number("small", 256), true), 20, rounds);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int const threads = os::engine::node::kokkos_threads();
  bool const its_own = os::engine::openblas::pool() == os::engine::blas_pool::its_own;  // otherwise it uses Kokkos'
  if (rank == 0)
    std::printf("{\"ranks\": %d, \"threads\": %d, \"blas_threads\": %d, \"product\": %.6g, \"turns\": %.6g}\n",
                env.devices(), threads, its_own ? os::engine::openblas::threads() : threads, product, turns);
}
