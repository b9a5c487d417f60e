// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the sizes of a mesh are bare numbers
// error: make_mesh: the size of a mesh axis is given by name; write os::make_mesh(X = 2, Y = 4)
// error: mesh_size_without_a_name<int, int>
#include <ostraka/meshes/make_mesh.hpp>
namespace os = ostraka;

OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

#ifdef SHOULD_FAIL
auto f() { return os::make_mesh(2, 4); }
#else
auto f() { return os::make_mesh(X = 2, Y = 4); }
#endif
