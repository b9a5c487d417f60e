// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a tensor is assigned to one that has its axes in another order
// error: assignment: a tensor is assigned or passed only to one of the same axes in the same order; write os::einsum<J, I>(A) to transpose or reduce it, or os::rename<J, K>(A) to give an axis another name
// error: assigned_other_axes<sharding<over<I_axis, X_mesh>, J_axis>, sharding<J_axis, over<I_axis, X_mesh>>>
#include <ostraka/algebra/einsum.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
void f(os::tensor<float, I / X, J> const& a, os::tensor<float, J, I / X>& transposed) { transposed = a; }
#else
void f(os::tensor<float, I / X, J> const& a, os::tensor<float, J, I / X>& transposed) {
  transposed = os::einsum<J, I / X>(a);
}
#endif
