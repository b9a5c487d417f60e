// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: two contracted axes are divided over one mesh axis, one on the left and the other on the right
// error: contract: a contracted axis is divided alike in both operands, and here the mesh axes or their order differ;
// error: contracted_axis_split_differently<J_axis, X_mesh, J_axis>
#include <ostraka/plan.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_AXIS(L);
OSTRAKA_MESH_AXIS(X);

template <class Left, class Right>
using verdict = os::contract_verdict<os::type_list<J_axis, L_axis>, Left, Right>;

#ifdef SHOULD_FAIL
void f() { os::reason::raise<verdict<os::sharding_of<I, J / X, L>, os::sharding_of<J, L / X, K>>>(); }
#else
void f() { os::reason::raise<verdict<os::sharding_of<I, J, L>, os::sharding_of<J, L, K / X>>>(); }
#endif
