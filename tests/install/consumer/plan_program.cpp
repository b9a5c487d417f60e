// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// A user's program with ostraka::plan alone: no Kokkos, no MPI.

#include <ostraka/plan.hpp>
#include <ostraka/version.hpp>

#include <cstdio>

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);

static_assert(OSTRAKA_VERSION_MAJOR == 0);

int main() { std::printf("ostraka %d.%d.%d\n", OSTRAKA_VERSION_MAJOR, OSTRAKA_VERSION_MINOR, OSTRAKA_VERSION_PATCH); }
