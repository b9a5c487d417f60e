// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a communicator is asked for along a mesh axis that the mesh does not have
// error: mesh: the tensor is divided over a mesh axis that the mesh does not have; add it to os::make_mesh (size 1 costs nothing) or drop it from the sharding
// error: unknown_mesh_axis<Y_mesh
#include <ostraka/meshes/make_mesh.hpp>
namespace os = ostraka;

OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

#ifdef SHOULD_FAIL
auto f(os::mesh<X_mesh> const& mesh) { return mesh.communicator(Y); }
#else
auto f(os::mesh<X_mesh> const& mesh) { return mesh.communicator(X); }
#endif
