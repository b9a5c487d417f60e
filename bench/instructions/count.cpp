// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// @file
/// The tiny operations, to be counted by callgrind: instructions.py runs this and reads what was executed in each call
/// of measured_operation. Each operation has run before, so that what happens once is not counted. Prints the
/// operations in their order.

#include <cstdio>

#include "null_blas.hpp"
#include "null_mpi.hpp"
#include "tiny_operations.hpp"

// Callgrind counts from where this is entered to where it is left.
extern "C" __attribute__((noinline)) void measured_operation(tiny::operation const& o) {
  o.run();
  asm volatile("");  // no tail call: the profiler would not see it return
}

int main(int argc, char** argv) {
  ostraka::environment const env(argc, argv);
  tiny::all.emplace(8);
  bench::blas_is_null = true;  // it differs from processor to processor
  for (tiny::operation const& o : tiny::operations) {
    for (int i = 0; i < 3; ++i) o.run();
    measured_operation(o);
    std::printf("counted %s\n", o.what);
  }
  tiny::all.reset();
}
