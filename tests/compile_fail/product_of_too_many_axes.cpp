// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: whichever operands are multiplied first, an intermediate has more than eight axes
// error: einsum: in every order of the products there is one with more than eight axes, the most that a tensor can have; multiply some of the operands first, so that axes are summed early
// error: product_of_too_many_axes<sharding<
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

using one = os::sharding_of<A, B, C, I, J, K, L, M>;
using two = os::sharding_of<D, E, F, I, J, N, O, P>;
using three = os::sharding_of<G, H, K, L, M, N, O, P>;
#ifdef SHOULD_FAIL
constexpr auto plan = os::plan_of<os::dims<A, B, C, D, E, F, G, H>, one, two, three>;
#else
constexpr auto plan = os::plan_of<os::dims<A, D, G>, os::sharding_of<A, I, J, K, L, M>,
                                  os::sharding_of<D, I, J, N, O, P>, os::sharding_of<G, K, L, M, N, O, P>>;
#endif
