// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the same mesh axes in another order
// error: contract: a batch axis is divided alike in both operands, and here the mesh axes or their order differ;
// error: batch_axis_split_differently<B_axis, over<B_axis, X_mesh, Y_mesh>, over<B_axis, Y_mesh, X_mesh>>
#include <ostraka/plan.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(B);
OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

template <class Left, class Right>
using verdict = os::contract_verdict<os::type_list<J_axis>, Left, Right>;

#ifdef SHOULD_FAIL
void f() { os::reason::raise<verdict<os::sharding_of<B / X / Y, I, J>, os::sharding_of<B / Y / X, J, K>>>(); }
#else
void f() { os::reason::raise<verdict<os::sharding_of<B / X / Y, I, J>, os::sharding_of<B / X / Y, J, K>>>(); }
#endif
