// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// A step of the heat equation on blocks with halos, overlapped, against the same written by hand with MPI. The blocks
/// are divided by rows, whose faces are contiguous, or by columns, whose faces are packed. The same step also runs on
/// the program's own arrays with ghost layers.
///
///     mpirun -n 2 bench/halo [rounds=15] [json=FILE]

#include <mpi.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <ostraka/ostraka.hpp>

#include "by_hand.hpp"
#include "job.hpp"
#include "seconds_of_all.hpp"

namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

namespace {

/// A step of the heat equation at a point.
struct heat_step {
  double r;

  template <class Neighbours>
  KOKKOS_INLINE_FUNCTION double operator()(Neighbours const& u) const {
    return u(0, 0) + r * (u(-1, 0) + u(1, 0) + u(0, -1) + u(0, 1) - 4 * u(0, 0));
  }
};

void compare(bench::report& table, int rounds, int n, int px, int py) {
  double const r = 0.2;
  auto const mesh = os::make_mesh(X = px, Y = py);
  auto const start = os::ones<double, I/X, J/Y>(mesh, I = n, J = n);
  os::shard_map<I/X, J/Y>([&](auto block) {
    heat_step const heat{r};
    auto now = os::exchange_halo<os::halo<I, 1>/X, os::halo<J, 1>/Y>(block);
    auto next = os::zeros_like(now);
    auto const ours = [&] {
      os::stencil_into(next, heat, os::start_exchange_halo_into<os::halo<I, 1>/X, os::halo<J, 1>/Y>(now, os::faces));
      std::swap(now, next);
    };
    // The same on the program's own arrays, which contain ghost layers.
    auto const size = static_cast<std::size_t>((n / px + 2) * (n / py + 2));
    std::vector<double> one(size, 1.0), other(size, 1.0);
    auto const adopt = [&](std::vector<double>& of) {
      return os::from_local<double, os::halo<I, 1> / X, os::halo<J, 1> / Y>(mesh, I = n, J = n, of);
    };
    auto ghosted = adopt(one), written = adopt(other);
    auto const on_arrays = [&] {
      os::stencil_into(written, heat,
                       os::start_exchange_halo_into<os::halo<I, 1> / X, os::halo<J, 1> / Y>(ghosted, os::faces));
      std::swap(ghosted, written);
    };
    by_hand::heat hand(n / px, n / py, px, py, r);
    table.add(bench::compare(
        std::to_string(n) + " x " + std::to_string(n) + " on " + std::to_string(px) + " x " + std::to_string(py),
        {{"ours", ours}, {"arrays", on_arrays}, {"by hand", [&] { hand.step(); }}}, rounds, bench::seconds_of_all));
    return os::own(now);
  }, start);
}

}  // namespace

int main(int argc, char** argv) {
  bench::job job("halo", argc, argv);
  int const rounds = job.given.number("rounds", 15);
  for (int n : {64, 256, 1024, 2048}) {
    compare(job.out, rounds, n, job.ranks, 1);
    if (job.ranks > 1) compare(job.out, rounds, n, 1, job.ranks);
  }
}
