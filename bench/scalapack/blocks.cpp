// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Moves a tensor [I_X, J_Y] into ScaLAPACK's column-major arrays in blocks of 64, and back, by a plan that is kept
/// (os::plan_blocks). The baselines are ScaLAPACK's own pdgemr2d between the same two distributions (our distribution
/// is one block per rank, here column-major as pdgemr2d requires), and one copy of as many elements in memory each way.
/// The seconds are the slowest rank's.
///
///     mpirun -n 2 bench/scalapack_blocks [rounds=9] [only=TEXT] [json=FILE]

#include <mpi.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <ostraka/foreign_blocks.hpp>
#include <ostraka/ostraka.hpp>

#include "report.hpp"
#include "seconds_of_all.hpp"

extern "C" {
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, char const* order, int rows, int columns);
void Cblacs_gridexit(int context);
void pdgemr2d_(int const* m, int const* n, double const* a, int const* ia, int const* ja, int const* of_a, double* b,
               int const* ib, int const* jb, int const* of_b, int const* context);
}

namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

namespace {

struct element_of {
  KOKKOS_FUNCTION double operator()(std::int64_t i, std::int64_t j) const {
    return static_cast<double>(7 * i + j % 1000);
  }
};

void compare(bench::report& out, bench::arguments const& given, int n, int x, int y, int block) {
  std::string const name = std::to_string(n) + "x" + std::to_string(n) + " on " + std::to_string(x) + "x" +
                           std::to_string(y) + ", blocks of " + std::to_string(block);
  if (!given.wants(name)) return;
  auto const mesh = os::make_mesh(X = x, Y = y);
  int context = 0;
  Cblacs_get(-1, 0, &context);
  Cblacs_gridinit(&context, "R", x, y);
  auto const a = os::generate<double, I/X, J/Y>(mesh, I = n, J = n, element_of{});
  auto const back = os::zeros<double, I/X, J/Y>(mesh, I = n, J = n);

  auto const cyclic = os::block_cyclic(I = block, J = block);
  auto const there = os::scalapack_array_of<I/X, J/Y>(mesh, I = n, J = n, cyclic, context);
  std::vector<double> ours(there.elements()), theirs(there.elements());
  auto const lies = os::strided(ours.data(), I = 1, J = there.leading_dimension);
  auto plan = os::plan_blocks<double, I/X, J/Y>(mesh, I = n, J = n, cyclic, lies);

  // One block per rank, with the elements of our block.
  auto const whole =
      os::scalapack_array_of<I/X, J/Y>(mesh, I = n, J = n, os::block_cyclic(I = n / x, J = n / y), context);
  std::vector<double> start(whole.elements()), end(whole.elements());
  for (std::size_t i = 0; i < a.local().extent(0); ++i)
    for (std::size_t j = 0; j < a.local().extent(1); ++j)
      start[i + j * static_cast<std::size_t>(whole.leading_dimension)] = a.local()(i, j);

  int const one = 1;
  auto const by_plan = [&] {
    plan.copy_to(a, lies);
    plan.copy_from_into(back, lies);
  };
  auto const by_pdgemr2d = [&] {
    pdgemr2d_(&n, &n, start.data(), &one, &one, whole.descriptor.data(), theirs.data(), &one, &one,
              there.descriptor.data(), &context);
    pdgemr2d_(&n, &n, theirs.data(), &one, &one, there.descriptor.data(), end.data(), &one, &one,
              whole.descriptor.data(), &context);
  };
  auto const by_copies = [&] {
    std::memcpy(end.data(), start.data(), start.size() * sizeof(double));
    std::memcpy(start.data(), end.data(), start.size() * sizeof(double));
  };
  by_plan();
  by_pdgemr2d();
  bool good = ours == theirs && end == start;
  for (std::size_t k = 0; k < a.local().size(); ++k) good = good && a.local().data()[k] == back.local().data()[k];

  bench::comparison timed =
      bench::compare(name, {{"plan_blocks", by_plan}, {"pdgemr2d", by_pdgemr2d}, {"two copies in memory", by_copies}},
                     given.number("rounds", 9), bench::seconds_of_all);
  timed.numbers["MB sent"] = 1e-6 * static_cast<double>(plan.bytes_sent_to() + plan.bytes_sent_from());
  if (!good) timed.remark = "DIFFERENT RESULTS";
  out.add(timed);
  Cblacs_gridexit(context);
}

}  // namespace

int main(int argc, char** argv) {
  os::environment const env(argc, argv);
  bench::arguments const given(argc, argv);
  int rank = 0, p = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &p);
  bench::report report("scalapack_blocks", given, rank == 0);
  report.condition("ranks", std::to_string(p));
  report.condition("element", "double");
  int const x = p >= 4 ? p / 2 : 1;
  for (int n : {256, 1024, 4096}) {
    compare(report, given, n, x, p / x, 64);
    compare(report, given, n, p, 1, 64);
  }
  compare(report, given, 1024, x, p / x, 1);
}
