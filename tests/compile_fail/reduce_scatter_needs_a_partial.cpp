// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the tensor is not partial over the mesh axis
// error: reduce_scatter: each mesh axis that is scattered onto holds partial sums of the tensor; name mesh axes of its os::partial, or use os::slice where it is replicated
// error: reduce_scatter_needs_a_partial<X_mesh, sharding<I_axis, J_axis>>
#include <ostraka/moves/reduce_scatter.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I, J> const& a) { return os::reduce_scatter<I / X>(a); }
#else
auto f(os::tensor<float, I, J, os::partial(X)> const& a) { return os::reduce_scatter<I / X>(a); }
#endif
