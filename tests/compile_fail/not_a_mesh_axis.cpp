// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: an axis is divided by something that is not a mesh axis, most often by another axis
// error: sharding: an axis is divided over mesh axes only; declare the divisor with OSTRAKA_MESH_AXIS
// error: not_a_mesh_axis<I_axis, J_axis>
#include <ostraka/plan.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
using A = os::sharding_of<I / J, J>;
#else
using A = os::sharding_of<I / X, J>;
#endif
