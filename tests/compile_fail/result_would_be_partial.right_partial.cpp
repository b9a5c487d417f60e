// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the right operand is partial: (R, P)
// error: contract: the result would be partial over a mesh axis, and a partial result is given only when it is asked for;
// error: result_would_be_partial<X_mesh>
#include <ostraka/plan.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);

template <class Left, class Right>
using verdict = os::contract_verdict<os::type_list<J_axis>, Left, Right>;

#ifdef SHOULD_FAIL
void f() { os::reason::raise<verdict<os::sharding_of<I, J>, os::sharding_of<J, K, os::partial(X)>>>(); }
#else
void f() { os::reason::raise<verdict<os::sharding_of<I, J>, os::sharding_of<J, K>>>(); }
#endif
