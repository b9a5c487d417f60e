// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the operands have more than sixteen different axes
// error: operation: all tensors of one operation together have at most sixteen different axes; combine some of them first, or rename axes that mean the same
// error: too_many_labels<18>
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
OSTRAKA_AXIS(N);
OSTRAKA_AXIS(O);
OSTRAKA_AXIS(P);
OSTRAKA_AXIS(Q);
OSTRAKA_AXIS(R);

using one = os::sharding_of<A, B, C, D, E, F>;
using two = os::sharding_of<G, H, I, J, K, L>;
#ifdef SHOULD_FAIL
constexpr auto plan = os::plan_of<os::dims<A>, one, two, os::sharding_of<M, N, O, P, Q, R>>;
#else
constexpr auto plan = os::plan_of<os::dims<A, E, F, I, J, K, L>, one, two, os::sharding_of<G, H, A, B, C, D>>;
#endif
