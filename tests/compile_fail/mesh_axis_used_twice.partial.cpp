// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a mesh axis divides an axis and holds partial sums
// error: sharding: a mesh axis is used by a tensor at most once, to divide one axis or to hold partial sums;
// error: mesh_axis_used_twice<X_mesh, I_axis, partial_sum<X_mesh>>
#include <ostraka/tensors/tensor.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

#ifdef SHOULD_FAIL
os::tensor<float, I / X, os::partial(X)> A;
#else
os::tensor<float, I / X, os::partial(Y)> A;
#endif
