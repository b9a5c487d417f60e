// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Products of three and four operands, with their order and the shardings between them, must be planned within so many
/// steps of constant evaluation:
// g++: 2300000
// clang: 235000

#include <ostraka/plan.hpp>

namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_AXIS(L);
OSTRAKA_AXIS(M);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

template <auto... Dims>
using s = os::sharding_of<Dims...>;

static_assert(os::plan_of<os::dims<I/X, L>, s<I/X, J>, s<J, K/X>, s<K, L>>.feasible);
static_assert(os::plan_of<os::dims<I/X, L/Y>, s<I/X, J/Y>, s<J/X, K/Y>, s<K/X, L/Y>>.feasible);
static_assert(os::plan_of<os::dims<I/X, M>, s<I/X, J>, s<J, K/X>, s<K, L/X>, s<L/X, M>>.feasible);
static_assert(os::plan_of<os::dims<I/X, M/Y>, s<I/X, J/Y>, s<J/X, K/Y>, s<K/X, L/Y>, s<L/X, M/Y>>.feasible);
