// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: an axis of both operands and the result is divided over one mesh axis on the left and over another on the
//       right, or over the same ones in another order
// error: contract: a batch axis is divided alike in both operands, and here the mesh axes or their order differ; name the result with os::einsum to authorise an all-gather of either operand (moves (n-1)/n of it) or a block exchange of one of them, or reshard one first
// error: batch_axis_split_differently<B_axis, X_mesh, Y_mesh>
#include <ostraka/algebra/contract.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(B);
OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, B / X, I, J> const& a, os::tensor<float, B / Y, J, K> const& b) {
  return os::contract<J>(a, b);
}
#else
auto f(os::tensor<float, B / X, I, J> const& a, os::tensor<float, B / Y, J, K> const& b) {
  return os::einsum<B / X, I, K>(a, b);
}
#endif
