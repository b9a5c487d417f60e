// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: one operand is partial over a mesh axis that divides the other on an axis of both and the result: (P, S(b)) and
//       (S(b), P)
// error: contract: one operand is partial over a mesh axis that divides a batch axis of the other; name the result with os::einsum to authorise a reduce-scatter of the former onto the batch axis (moves (n-1)/n of it)
// error: partial_meets_batch_axis<X_mesh, B_axis>
#include <ostraka/algebra/contract.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(B);
OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, B, I, J, os::partial(X)> const& a, os::tensor<float, B / X, J, K> const& b) {
  return os::contract<J>(a, b);
}
#else
auto f(os::tensor<float, B, I, J, os::partial(X)> const& a, os::tensor<float, B / X, J, K> const& b) {
  return os::einsum<B / X, I, K>(a, b);
}
#endif
