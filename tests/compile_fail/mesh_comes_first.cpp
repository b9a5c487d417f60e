// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the extents of a tensor stand before its mesh
// error: tensor: the mesh comes first, and after it the extents; write os::zeros<float, I/X>(mesh, I = 8)
// error: mesh_comes_first<ostraka::named_extent<I_axis>
#include <ostraka/creation/zeros.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::mesh<X_mesh> const& mesh) { return os::zeros<float, I / X>(I = 1024, mesh); }
#else
auto f(os::mesh<X_mesh> const& mesh) { return os::zeros<float, I / X>(mesh, I = 1024); }
#endif
