// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the mesh axis to be gathered divides no axis of the tensor
// error: all_gather: each gathered mesh axis divides an axis of the tensor; name mesh axes that divide it, or use os::reshard
// error: all_gather_needs_a_split<Y_mesh, sharding<over<I_axis, X_mesh>, J_axis>>
#include <ostraka/moves/all_gather.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

#ifdef SHOULD_FAIL
void f(os::tensor<float, I / X, J> const& a) {
  os::tensor<float, I, J> b = os::all_gather<Y>(a);
}
#else
void f(os::tensor<float, I / X, J> const& a) {
  os::tensor<float, I, J> b = os::all_gather<X>(a);
}
#endif
