// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a mesh is made with a mesh axis twice
// error: sizes: an extent is given once;
// error: extent_given_twice<X_mesh>
#include <ostraka/meshes/make_mesh.hpp>
namespace os = ostraka;

OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

#ifdef SHOULD_FAIL
auto f() { return os::make_mesh(X = 2, X = 4); }
#else
auto f() { return os::make_mesh(X = 2, Y = 4); }
#endif
