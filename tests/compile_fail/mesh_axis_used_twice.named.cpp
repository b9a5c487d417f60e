// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a mesh axis divides one axis twice, in a type that is only given a name
// error: sharding: a mesh axis is used by a tensor at most once,
// error: mesh_axis_used_twice<X_mesh, I_axis, I_axis>
#include <ostraka/tensors/tensor.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

#ifdef SHOULD_FAIL
using table = os::tensor<float, I / X / X>;
#else
using table = os::tensor<float, I / X / Y>;
#endif
