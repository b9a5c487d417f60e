// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a function takes a tensor that cannot be made, and nothing is done with it
// error: sharding: a mesh axis is used by a tensor at most once,
// error: mesh_axis_used_twice<X_mesh, I_axis, J_axis>
#include <ostraka/tensors/tensor.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

#ifdef SHOULD_FAIL
void f(os::tensor<float, I / X, J / X>) {}
#else
void f(os::tensor<float, I / X, J / Y>) {}
#endif
