// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// What takes the compilers most of their time, compiled once for all tests of this folder that include more than floors 1 and 2.

#include <Kokkos_Core.hpp>

#if OSTRAKA_ENABLE_MPI
#include <mpi.h>
#endif

#include <complex>
#include <memory>
#include <string>
#include <tuple>
#include <vector>
