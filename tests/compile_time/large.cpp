// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Three operands on three mesh axes, and four of many axes on two: their plans are made within the limits that
/// ostraka::large_plans sets.
// g++: 1000000000
// clang: 100000000

#include <ostraka/plan.hpp>

namespace os = ostraka;

OSTRAKA_AXIS(A);
OSTRAKA_AXIS(B);
OSTRAKA_AXIS(C);
OSTRAKA_AXIS(D);
OSTRAKA_AXIS(E);
OSTRAKA_AXIS(F);
OSTRAKA_AXIS(G);
OSTRAKA_AXIS(H);
OSTRAKA_AXIS(batch);
OSTRAKA_AXIS(seq);
OSTRAKA_AXIS(key);
OSTRAKA_AXIS(head);
OSTRAKA_AXIS(width);
OSTRAKA_AXIS(inner);
OSTRAKA_AXIS(model);
OSTRAKA_AXIS(out);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);
OSTRAKA_MESH_AXIS(Z);

template <auto... Dims>
using s = os::sharding_of<Dims...>;

// Three operands on three mesh axes: attention with its projection, two layers of a feed-forward network.
static_assert(os::plan_of<os::dims<batch/X, seq/Y, model/Z>, s<batch/X, seq/Y, head/Z, key>,
    s<batch/X, key/Y, head/Z, width>, s<head/Z, width, model/X>>.feasible);
static_assert(
    os::plan_of<os::dims<batch/X, seq/Y, out>, s<batch/X, seq/Y, model>, s<model/X/Y, inner/Z>,
        s<inner/Z, out/X/Y>>.feasible);

// Four operands of rank 5 and 6 on two.
static_assert(os::plan_of<os::dims<batch/X, A, B, E/Y, F>, s<batch/X, A/Y, B, C, D>, s<batch, C/X, D/Y, E, F>,
    s<batch/X, E/Y, F, G, H, A>,
                          s<batch/Y, G/X, H, E, F>>.feasible);
