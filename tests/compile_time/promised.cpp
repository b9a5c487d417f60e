// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Plans of two operands on up to three mesh axes and of three on two, expensive ones, and long products of matrices on
/// two must be made within the compilers' default limit of steps, so that programs need no option. Larger ones:
/// large.cpp.
// g++: 33554432
// clang: 1048576

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
OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_AXIS(L);
OSTRAKA_AXIS(M);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);
OSTRAKA_MESH_AXIS(Z);

template <auto... Dims>
using s = os::sharding_of<Dims...>;

// Two operands on three mesh axes: two batch axes, partial operands, and a weight and rules of the program's own.
static_assert(os::plan_of<os::dims<A/X, B/Y, I, K/Z>, s<A/Y, B/Z, I, J/X>, s<A/Z, B, J/X, K/Y>>.feasible);
static_assert(os::plan_of<os::dims<I, K>, s<I, J, os::partial(X, Y, Z)>, s<J/X, K/Y/Z>>.feasible);
static_assert(os::plan_of<os::dims<I/Z, K/X/Y>, s<I/X, J/Y/Z>, s<J/X, K/Z/Y>, decltype(os::least_time<320>)>.feasible);
static_assert(os::plan_of<os::dims<I/X, K>, s<I/X, J/Y/Z>, s<J/Y/Z, K>, decltype(os::reduce_result)>.feasible);

// Three on two, and four and eight matrices.
static_assert(
    os::plan_of<os::dims<A/X, B, C, D, E/Y, F>, s<A, B/X, C, G/Y, H>, s<G/X, D/Y, A, B, E>,
        s<H/X, D, E, F/Y, C>>.feasible);
static_assert(
    os::plan_of<os::dims<B/X, I, M/Y>, s<B/Y, I/X, J>, s<B, J/X, K/Y>, s<B/X, K, L/Y>, s<B, L/X, M/Y>>.feasible);
static_assert(os::plan_of<os::dims<A/X, I/Y>, s<A/X, B/Y>, s<B/X, C/Y>, s<C/Y, D/X>, s<D/X, E/Y>, s<E/Y, F/X>,
    s<F/Y, G/X>, s<G/X, H/Y>, s<H/X, I/Y>>.feasible);
