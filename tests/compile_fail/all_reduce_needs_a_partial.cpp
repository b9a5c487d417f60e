// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the tensor is not partial over the mesh axis
// error: all_reduce: each reduced mesh axis holds partial sums of the tensor; name mesh axes of its os::partial, or use os::sum to reduce an axis
// error: all_reduce_needs_a_partial<X_mesh, sharding<over<I_axis, X_mesh>, partial_sum<Y_mesh>>>
#include <ostraka/moves/all_reduce.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I / X, os::partial(Y)> const& a) { return os::all_reduce<X>(a); }
#else
auto f(os::tensor<float, I / X, os::partial(Y)> const& a) { return os::all_reduce<Y>(a); }
#endif
