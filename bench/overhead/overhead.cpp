// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// @file
/// The cost of an operation beyond its MPI calls and its BLAS calls: its time with an MPI that does nothing, once
/// without BLAS and once with it. Our own kernel multiplies blocks of 16 to 64 elements, and is part of the figure;
/// BLAS multiplies blocks of extents of 64. It runs as one process:
///
///     bench/overhead [rounds=N] [json=FILE] [only=TEXT]

#include "null_blas.hpp"
#include "null_mpi.hpp"
#include "report.hpp"
#include "tiny_operations.hpp"

namespace {

bench::comparison compare(tiny::operation const& o, int extent, int rounds) {
  bench::blas_is_null = true;
  bench::mpi_calls = bench::blas_calls = 0;
  o.run();
  long const mpi_calls = bench::mpi_calls;
  long const blas_calls = bench::blas_calls;
  auto const run = [&o](bool without_blas) {
    return [&o, without_blas] {
      bench::blas_is_null = without_blas;
      o.run();
    };
  };
  std::string const what = std::string(o.what) + ", " + std::to_string(extent);
  bench::comparison c = blas_calls > 0 ? bench::compare(what, {{"ours", run(true)}, {"with BLAS", run(false)}}, rounds)
                                       : bench::compare(what, {{"ours", run(true)}}, rounds);
  c.numbers["MPI calls"] = static_cast<double>(mpi_calls);
  c.numbers["BLAS calls"] = static_cast<double>(blas_calls);
  return c;
}

}  // namespace

int main(int argc, char** argv) {
  bench::arguments const given(argc, argv);
  ostraka::environment const env(argc, argv);
  bench::report table("overhead", given);
  table.condition("mesh", "X = 2, Y = 2, of which this process is device 0; MPI does nothing");
  table.condition("elements", "double, all extents as said");
  for (int extent : {8, 64}) {
    tiny::all.emplace(extent);
    for (tiny::operation const& o : tiny::operations)
      if (given.wants(std::string(o.what) + ", " + std::to_string(extent)))
        table.add(compare(o, extent, given.number("rounds", 15)));
  }
  tiny::all.reset();
}
