// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a tensor is made without an element type and dimensions
// error: tensor: the element type comes before the dimensions; write os::zeros<float, I/X>(mesh, I = 8)
// error: element_type_comes_first<ostraka::mesh<X_mesh>
#include <ostraka/creation/random.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::mesh<X_mesh> const& mesh) { return os::random(mesh, I = 1024); }
#else
auto f(os::mesh<X_mesh> const& mesh) { return os::random<float, I / X>(mesh, I = 1024); }
#endif
