// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the mirror image: (S(j), P)
// error: contract: one operand is partial over a mesh axis that divides a contracted axis of the other;
// error: partial_meets_contracted_axis<X_mesh, J_axis>
#include <ostraka/plan.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);

template <class Left, class Right>
using verdict = os::contract_verdict<os::type_list<J_axis>, Left, Right>;

#ifdef SHOULD_FAIL
void f() { os::reason::raise<verdict<os::sharding_of<I, J / X>, os::sharding_of<J, K, os::partial(X)>>>(); }
#else
void f() { os::reason::raise<verdict<os::sharding_of<I, J>, os::sharding_of<J, K / X>>>(); }
#endif
