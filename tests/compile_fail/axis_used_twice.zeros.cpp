// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a tensor is made with an axis twice
// error: sharding: an axis occurs in a tensor at most once;
// error: axis_used_twice<I_axis>
#include <ostraka/creation/zeros.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::mesh<X_mesh> const& mesh) { return os::zeros<float, I / X, I>(mesh, I = 8); }
#else
auto f(os::mesh<X_mesh> const& mesh) { return os::zeros<float, I / X, J>(mesh, I = 8, J = 8); }
#endif
