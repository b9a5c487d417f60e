// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a mesh axis divides an axis of both operands and the result on one side, and a contracted axis on the other:
//       (S(b), S(j)) and (S(j), S(b)) of the table of products
// error: contract: a mesh axis divides a batch axis of one operand and a contracted axis of the other; name the result with os::einsum to authorise an all-to-all of the latter to the batch axis (moves (n-1)/n^2 of it)
// error: batch_axis_meets_contracted_axis<B_axis, J_axis, X_mesh>
#include <ostraka/algebra/contract.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(B);
OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, B / X, I, J> const& a, os::tensor<float, B, J / X, K> const& b) {
  return os::contract<J>(a, b);
}
#else
auto f(os::tensor<float, B / X, I, J> const& a, os::tensor<float, B, J / X, K> const& b) {
  return os::einsum<B / X, I, K>(a, b);
}
#endif
