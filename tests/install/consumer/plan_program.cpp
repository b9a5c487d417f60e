// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// A user's program with ostraka::plan alone: no Kokkos, no MPI. The contracted axis is split on both sides, so the
/// result is summed.

#include <ostraka/plan.hpp>

#include <cstdio>

namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);

using left = os::sharding<I_axis, os::over<J_axis, X_mesh>>;
using right = os::sharding<os::over<J_axis, X_mesh>, K_axis>;
constexpr auto plan = os::plan_of<os::dims<I, K>, left, right>;

static_assert(plan.count(os::step::all_reduce) == 1);
static_assert(plan.count(os::step::all_gather) == 0);

int main() { std::printf("%s\n", describe(plan, I = 8, J = 8, K = 8, X = 4).c_str()); }
