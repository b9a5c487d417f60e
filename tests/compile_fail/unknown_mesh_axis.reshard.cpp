// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the target of a reshard to another mesh names a mesh axis of the old one
// error: mesh: the tensor is divided over a mesh axis that the mesh does not have; add it to os::make_mesh (size 1 costs nothing) or drop it from the sharding
// error: unknown_mesh_axis<X_mesh, mesh<Y_mesh>>
#include <ostraka/moves/reshard_meshes.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

#ifdef SHOULD_FAIL
void f(os::tensor<float, I / X, J> const& a, os::mesh<Y_mesh> const& mesh) {
  os::tensor<float, I / X, J> b = os::reshard<I / X, J>(a, mesh);
}
#else
void f(os::tensor<float, I / X, J> const& a, os::mesh<Y_mesh> const& mesh) {
  os::tensor<float, I / Y, J> b = os::reshard<I / Y, J>(a, mesh);
}
#endif
