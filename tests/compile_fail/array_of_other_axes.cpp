// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: strides are named of other axes than the tensor has
// error: array: os::strided and os::in_order name each axis of the tensor once; write os::strided(pointer, I = 8, J = 1), os::in_order<J, I>(view)
// error: array_of_other_axes<
#include <ostraka/arrays/from_local.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::mesh<X_mesh> const& mesh, float* p) {
  return os::from_local<float, I / X, J>(mesh, I = 8, J = 4, os::strided(p, I = 4, K = 1));
}
#else
auto f(os::mesh<X_mesh> const& mesh, float* p) {
  return os::from_local<float, I / X, J>(mesh, I = 8, J = 4, os::strided(p, I = 4, J = 1));
}
#endif
