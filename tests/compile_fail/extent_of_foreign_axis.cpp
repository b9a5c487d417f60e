// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: an extent is written out for an axis that the tensor lacks
// error: sizes: an extent is given for an axis that the tensor does not have; drop it, or collect the program's extents in an os::sizes, from which each tensor takes its own
// error: extent_of_foreign_axis<K_axis>
#include <ostraka/creation/zeros.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::mesh<X_mesh> const& mesh) { return os::zeros<float, I / X, J>(mesh, I = 8, J = 8, K = 8); }
#else
auto f(os::mesh<X_mesh> const& mesh) { return os::zeros<float, I / X, J>(mesh, os::sizes(I = 8, J = 8, K = 8)); }
#endif
