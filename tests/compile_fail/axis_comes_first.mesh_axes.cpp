// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: mesh axes are divided by each other
// error: sharding: an axis is divided over a mesh axis, not the other way round;
// error: axis_comes_first<X_mesh, Y_mesh>
#include <ostraka/plan.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

#ifdef SHOULD_FAIL
using table = os::sharding_of<I, X / Y>;
#else
using table = os::sharding_of<I / X / Y>;
#endif
