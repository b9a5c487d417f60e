// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a tensor is made that could not be filled
// error: tensor: a tensor of constant elements, such as those of a constant view, is read-only
// error: elements_are_constant<const float>
#include <ostraka/creation/zeros.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::mesh<X_mesh> const& mesh) { return os::zeros<float const, I / X>(mesh, I = 8); }
#else
auto f(os::mesh<X_mesh> const& mesh) { return os::zeros<float, I / X>(mesh, I = 8); }
#endif
