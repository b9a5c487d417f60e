// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: tensors that meet element by element divide different axes over one mesh axis
// error: map: in operations element by element, such as A + B, a mesh axis divides the same axis in all tensors; reshard one of them first, as in A + os::reshard<I/X, J>(B)
// error: mesh_axis_on_two_axes<X_mesh, I_axis, J_axis>
#include <ostraka/elements/map.hpp>
#include <ostraka/moves/reshard.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I / X> const& a, os::tensor<float, J / X> const& b) {
  return os::map([](float u, float v) { return u * v; }, a, b);
}
#else
auto f(os::tensor<float, I / X> const& a, os::tensor<float, J / X> const& b) {
  return os::map([](float u, float v) { return u * v; }, a, os::reshard<J>(b));
}
#endif
