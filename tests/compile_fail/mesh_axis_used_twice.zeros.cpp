// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a tensor is made with a mesh axis twice
// error: sharding: a mesh axis is used by a tensor at most once, to divide one axis or to hold partial sums;
// error: mesh_axis_used_twice<X_mesh, I_axis, J_axis>
#include <ostraka/creation/zeros.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

#ifdef SHOULD_FAIL
auto f(os::mesh<X_mesh> const& mesh) { return os::zeros<float, I / X, J / X>(mesh, I = 8, J = 8); }
#else
auto f(os::mesh<X_mesh> const& mesh) { return os::zeros<float, I / X, J>(mesh, I = 8, J = 8); }
#endif
