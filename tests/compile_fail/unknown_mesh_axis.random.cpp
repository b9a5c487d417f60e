// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: random numbers are asked for over a mesh axis that the mesh does not have, with a seed among the extents
// error: mesh: the tensor is divided over a mesh axis that the mesh does not have;
// error: unknown_mesh_axis<Y_mesh, mesh<X_mesh>>
#include <ostraka/creation/random.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

#ifdef SHOULD_FAIL
auto f(os::mesh<X_mesh> const& mesh) { return os::random<float, I / Y>(mesh, os::seed(1), I = 8); }
#else
auto f(os::mesh<X_mesh> const& mesh) { return os::random<float, I / X>(mesh, os::seed(1), I = 8); }
#endif
