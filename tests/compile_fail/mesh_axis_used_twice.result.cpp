// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the result of an einsum uses a mesh axis twice
// error: sharding: a mesh axis is used by a tensor at most once, to divide one axis or to hold partial sums;
// error: mesh_axis_used_twice<X_mesh, I_axis, K_axis>
#include <ostraka/algebra/einsum.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

#ifdef SHOULD_FAIL
void f(os::tensor<float, I / X, J> const& a, os::tensor<float, J, K / X> const& b) {
  auto c = os::einsum<I / X, K / X>(a, b);
  static_cast<void>(c.local());
}
#else
void f(os::tensor<float, I / X, J> const& a, os::tensor<float, J, K / X> const& b) {
  auto c = os::einsum<I / X, K>(a, b);
  static_cast<void>(c.local());
}
#endif
