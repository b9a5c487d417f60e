// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// @file
/// Runs the tiny operations under callgrind: instructions.py runs this and reads the instructions of each call of
/// measured_operation. Each operation has run once before, so that one-time work is not counted. Prints the operations
/// in their order.

#include <cstdio>

#include "null_blas.hpp"
#include "null_mpi.hpp"
#include "tiny_operations.hpp"

// Callgrind counts while a call of this runs.
extern "C" __attribute__((noinline)) void measured_operation(tiny::operation const& o) {
  o.run();
  asm volatile("");  // no tail call: the profiler would not see it return
}

int main(int argc, char** argv) {
  ostraka::environment const env(argc, argv);
  tiny::all.emplace(8);
  bench::blas_is_null = true;  // BLAS differs from processor to processor
  for (tiny::operation const& o : tiny::operations) {
    for (int i = 0; i < 3; ++i) o.run();
    measured_operation(o);
    std::printf("counted %s\n", o.what);
  }
  tiny::all.reset();
}
