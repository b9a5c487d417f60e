// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the target of a reshard to another mesh has other axes, or the same in another order
// error: reshard: source and target must have the same axes in the same order; use os::einsum to transpose or reduce, os::rename to rename
// error: reshard_changes_axes<
#include <ostraka/moves/reshard_meshes.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I / X, J> const& a, os::mesh<Y_mesh> const& mesh) { return os::reshard_plan<J / Y, I>(a, mesh); }
#else
auto f(os::tensor<float, I / X, J> const& a, os::mesh<Y_mesh> const& mesh) { return os::reshard_plan<I, J / Y>(a, mesh); }
#endif
