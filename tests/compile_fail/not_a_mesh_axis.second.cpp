// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the second divisor is no mesh axis
// error: sharding: an axis is divided over mesh axes only;
// error: not_a_mesh_axis<I_axis, J_axis>
#include <ostraka/plan.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
using A = os::sharding_of<I / X / J, J>;
#else
using A = os::sharding_of<I / X, J>;
#endif
