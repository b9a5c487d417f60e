// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the target of a reshard uses a mesh axis twice
// error: sharding: a mesh axis is used by a tensor at most once, to divide one axis or to hold partial sums;
// error: mesh_axis_used_twice<X_mesh, I_axis, J_axis>
#include <ostraka/moves/reshard.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

#ifdef SHOULD_FAIL
void f(os::tensor<float, I / X, J> const& a) {
  auto b = os::reshard<I / X, J / X>(a);
  static_cast<void>(b.local());
}
#else
void f(os::tensor<float, I / X, J> const& a) {
  auto b = os::reshard<I, J / X>(a);
  static_cast<void>(b.local());
}
#endif
