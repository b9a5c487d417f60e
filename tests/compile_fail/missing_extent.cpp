// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a tensor is made, or a plan asked for its bytes, and an axis without a static extent gets none
// error: sizes: an axis or mesh axis has no static extent and none was given; pass it by name, as in I = 1024
// error: missing_extent<J_axis>
#include <ostraka/creation/zeros.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::mesh<X_mesh> const& mesh) { return os::zeros<float, I / X, J>(mesh, I = 8); }
#else
auto f(os::mesh<X_mesh> const& mesh) { return os::zeros<float, I / X, J>(mesh, I = 8, J = 8); }
#endif
