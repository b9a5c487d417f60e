// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: an extent is given twice, perhaps once written out and once in an os::sizes
// error: sizes: an extent is given once; drop one of the two
// error: extent_given_twice<I_axis>
#include <ostraka/creation/zeros.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::mesh<X_mesh> const& mesh) { return os::zeros<float, I / X, J>(mesh, os::sizes(I = 8, J = 8), I = 16); }
#else
auto f(os::mesh<X_mesh> const& mesh) { return os::zeros<float, I / X, J>(mesh, os::sizes(I = 8, J = 8)); }
#endif
