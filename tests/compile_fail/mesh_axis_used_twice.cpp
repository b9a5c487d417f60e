// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: two axes of one tensor are divided over the same mesh axis
// error: sharding: a mesh axis is used by a tensor at most once, to divide one axis or to hold partial sums; drop one of the two uses or use another mesh axis
// error: mesh_axis_used_twice<X_mesh, I_axis, J_axis>
#include <ostraka/tensors/tensor.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

#ifdef SHOULD_FAIL
os::tensor<float, I / X, J / X> A;
#else
os::tensor<float, I / X, J / Y> A;
#endif
