// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the mesh axis divides no other axis, or not at the minor end
// error: all_to_all: the moved mesh axis divides another axis of the tensor, at the minor end; use os::slice where the tensor is replicated, os::reshard for anything else
// error: all_to_all_needs_a_split_elsewhere<X_mesh, sharding<I_axis, J_axis>>
#include <ostraka/moves/all_to_all.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I, J> const& a) { return os::all_to_all<J / X>(a); }
#else
auto f(os::tensor<float, I / X, J> const& a) { return os::all_to_all<J / X>(a); }
#endif
