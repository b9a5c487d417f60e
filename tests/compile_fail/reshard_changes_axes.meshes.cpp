// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the target of a reshard to another mesh has other axes
// error: reshard: source and target must have the same axes, in any order; use os::sum or os::einsum to reduce, os::broadcast to repeat, os::rename to rename
// error: reshard_changes_axes<
#include <ostraka/moves/reshard_meshes.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I / X, J> const& a, os::mesh<Y_mesh> const& mesh) {
  return os::reshard_plan<I / Y, K>(a, mesh);
}
#else
auto f(os::tensor<float, I / X, J> const& a, os::mesh<Y_mesh> const& mesh) {
  return os::reshard_plan<J / Y, I>(a, mesh);
}
#endif
