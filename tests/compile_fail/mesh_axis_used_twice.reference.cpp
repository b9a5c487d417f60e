// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a function takes, by reference, a tensor that is divided and partial over the same mesh axis
// error: sharding: a mesh axis is used by a tensor at most once,
// error: mesh_axis_used_twice<X_mesh, I_axis, partial_sum<X_mesh>>
#include <ostraka/tensors/tensor.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

#ifdef SHOULD_FAIL
double norm(os::tensor<float, I / X, os::partial(X)> const& a);
#else
double norm(os::tensor<float, I / X, os::partial(Y)> const& a);
#endif
