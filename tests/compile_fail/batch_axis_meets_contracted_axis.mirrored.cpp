// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the mirror image: (S(j), S(b))
// error: contract: a mesh axis divides a batch axis of one operand and a contracted axis of the other;
// error: batch_axis_meets_contracted_axis<B_axis, J_axis, X_mesh>
#include <ostraka/plan.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(B);
OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);

template <class Left, class Right>
using verdict = os::contract_verdict<os::type_list<J_axis>, Left, Right>;

#ifdef SHOULD_FAIL
void f() { os::reason::raise<verdict<os::sharding_of<B, I, J / X>, os::sharding_of<B / X, J, K>>>(); }
#else
void f() { os::reason::raise<verdict<os::sharding_of<B / X, I, J>, os::sharding_of<B / X, J, K>>>(); }
#endif
