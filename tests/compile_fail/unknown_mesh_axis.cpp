// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a tensor is made on a mesh that lacks one of its mesh axes
// error: mesh: the tensor is divided over a mesh axis that the mesh does not have; add it to os::make_mesh (size 1 costs nothing) or drop it from the sharding
// error: unknown_mesh_axis<Y_mesh, mesh<X_mesh>>
#include <ostraka/creation/zeros.hpp>
#include <ostraka/meshes/make_mesh.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

#ifdef SHOULD_FAIL
auto f() { return os::zeros<float, I / X, J / Y>(os::make_mesh(X = 2), I = 8, J = 8); }
#else
auto f() { return os::zeros<float, I / X, J / Y>(os::make_mesh(X = 2, Y = 1), I = 8, J = 8); }
#endif
