// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: an extent is a bare number
// error: sizes: an extent is given by name; write I = 1024, or pass an os::sizes
// error: extent_without_a_name<int>
#include <ostraka/creation/zeros.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::mesh<X_mesh> const& mesh) { return os::zeros<float, I / X>(mesh, 1024); }
#else
auto f(os::mesh<X_mesh> const& mesh) { return os::zeros<float, I / X>(mesh, I = 1024); }
#endif
