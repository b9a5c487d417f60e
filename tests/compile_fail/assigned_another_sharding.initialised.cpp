// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the result of an operation is given another type than it has
// error: assignment: a tensor is assigned or passed only to one of the same sharding,
// error: assigned_another_sharding<sharding<I_axis, K_axis>, sharding<over<I_axis, X_mesh>, K_axis>>
#include <ostraka/algebra/einsum.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
void f(os::tensor<float, I / X, J> const& a, os::tensor<float, J, K> const& b) {
  os::tensor<float, I / X, K> const c = os::einsum<I, K>(a, b);
  static_cast<void>(c);
}
#else
void f(os::tensor<float, I / X, J> const& a, os::tensor<float, J, K> const& b) {
  os::tensor<float, I / X, K> const c = os::einsum<I / X, K>(a, b);
  static_cast<void>(c);
}
#endif
