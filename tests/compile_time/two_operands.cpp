// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The most expensive of some two-operand products on one, two and three mesh axes must be planned within so many steps
/// of constant evaluation:
// g++: 900000
// clang: 100000

#include <ostraka/plan.hpp>

namespace os = ostraka;

OSTRAKA_AXIS(B);
OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);
OSTRAKA_MESH_AXIS(Z);

template <auto... Dims>
using s = os::sharding_of<Dims...>;

// One mesh axis: nothing moves, a gather, a reduction, outer axes that meet, a batch axis, a partial operand.
static_assert(os::plan_of<os::dims<I/X, K>, s<I/X, J>, s<J, K>>.communications() == 0);
static_assert(os::plan_of<os::dims<I, K>, s<I, J/X>, s<J, K>>.feasible);
static_assert(os::plan_of<os::dims<I/X, K>, s<I, J/X>, s<J/X, K>>.feasible);
static_assert(os::plan_of<os::dims<I/X, K>, s<I/X, J>, s<J, K/X>>.feasible);
static_assert(os::plan_of<os::dims<B/X, I, K>, s<B/X, I, J>, s<B, J/X, K>>.feasible);
static_assert(os::plan_of<os::dims<I/X, K>, s<I, J, os::partial(X)>, s<J/X, K>>.feasible);

// Two: the layers of a feed-forward network, mesh axes in the other order, a batch axis, partial operands.
static_assert(os::plan_of<os::dims<B/X, I, K/Y>, s<B/X, I, J/Y>, s<J/X, K/Y>>.feasible);
static_assert(os::plan_of<os::dims<B/X, I, J/Y>, s<B/X, I, K/Y>, s<K/Y, J/X>>.feasible);
static_assert(os::plan_of<os::dims<I/Y/X, K>, s<I/X/Y, J>, s<J/Y, K/X>>.feasible);
static_assert(os::plan_of<os::dims<B/X, I/Y, K>, s<B/Y, I, J/X>, s<B/X, J, K/Y>>.feasible);
static_assert(os::plan_of<os::dims<I/X, K/Y>, s<I, J/Y, os::partial(X)>, s<J/X, K>>.feasible);
static_assert(os::plan_of<os::dims<I, K>, s<I, J, os::partial(X, Y)>, s<J/X, K/Y>>.feasible);

// Three.
static_assert(os::plan_of<os::dims<I/X, K/Y>, s<I/X, J/Z>, s<J/Z, K/Y>>.feasible);
static_assert(os::plan_of<os::dims<I/Z, K/X/Y>, s<I/X, J/Y/Z>, s<J/X, K/Z/Y>>.feasible);
