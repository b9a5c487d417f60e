// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Facts about the job that a test on several ranks needs without the code under test. The main function is in
/// mpi_main.cpp: it initialises MPI and Kokkos, so both run during test cases. A test case runs on every rank; every
/// rank must reach the same collectives.

namespace ostraka::testing {

/// This process' place in MPI_COMM_WORLD; 0 without MPI.
int rank();

/// The number of processes in MPI_COMM_WORLD; 1 without MPI.
int ranks();

/// True if MPI is to be initialised for several host threads at once. A test that needs that defines this function.
bool uses_several_threads();

}  // namespace ostraka::testing
