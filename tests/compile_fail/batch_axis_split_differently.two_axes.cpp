// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: two batch axes are divided over one mesh axis, one on the left and the other on the right
// error: contract: a batch axis is divided alike in both operands, and here the mesh axes or their order differ;
// error: batch_axis_split_differently<B_axis, X_mesh, B_axis>
#include <ostraka/plan.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(B);
OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_AXIS(H);

template <class Left, class Right>
using verdict = os::contract_verdict<os::type_list<J_axis>, Left, Right>;

#ifdef SHOULD_FAIL
void f() { os::reason::raise<verdict<os::sharding_of<B / X, H, I, J>, os::sharding_of<B, H / X, J, K>>>(); }
#else
void f() { os::reason::raise<verdict<os::sharding_of<B / X, H, I, J>, os::sharding_of<B / X, H, J, K>>>(); }
#endif
