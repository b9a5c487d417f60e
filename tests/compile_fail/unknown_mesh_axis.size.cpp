// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a mesh is asked for the size of a mesh axis that it lacks
// error: mesh: the tensor is divided over a mesh axis that the mesh does not have;
// error: unknown_mesh_axis<Y_mesh, mesh<X_mesh>>
#include <ostraka/meshes/make_mesh.hpp>
namespace os = ostraka;

OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

#ifdef SHOULD_FAIL
auto f() { return os::make_mesh(X = 2).size(Y); }
#else
auto f() { return os::make_mesh(X = 2).size(X); }
#endif
