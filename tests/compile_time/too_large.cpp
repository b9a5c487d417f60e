// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// If a plan takes more steps than the compiler allows, the error gives the remedy, and says nothing untrue.
// g++: 33554432
// clang: 1048576
// says: link ostraka::large_plans
// not: in every order of the products

#include <ostraka/plan.hpp>

namespace os = ostraka;

OSTRAKA_AXIS(batch);
OSTRAKA_AXIS(seq);
OSTRAKA_AXIS(key);
OSTRAKA_AXIS(head);
OSTRAKA_AXIS(width);
OSTRAKA_AXIS(model);
OSTRAKA_AXIS(out);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);
OSTRAKA_MESH_AXIS(Z);

template <auto... Dims>
using s = os::sharding_of<Dims...>;

// Four operands on three mesh axes: attention with its projection, and a layer after it.
constexpr auto plan =
    os::plan_of<os::dims<batch/X, seq/Y, out/Z>, s<batch/X, seq/Y, head/Z, key>, s<batch/X, key/Y, head/Z, width>,
                s<head/Z, width, model/X>, s<model/Z, out/Y>>;
