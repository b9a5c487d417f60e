// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a mesh axis of a mesh has no size
// error: sizes: an axis or mesh axis has no static extent and none was given; pass it by name, as in I = 1024
// error: missing_extent<X_mesh>
#include <ostraka/meshes/make_mesh.hpp>
namespace os = ostraka;

OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f() { return os::make_mesh(X); }
#else
auto f() { return os::make_mesh(X = 2); }
#endif
