// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: both operands are partial over one mesh axis: (P, P)
// error: contract: at most one operand is partial over a mesh axis, because a product of sums is not the sum of the products; name the result with os::einsum to authorise an all-reduce of one operand (moves 2(n-1)/n of it) or a reduce-scatter of both onto a common axis (moves (n-1)/n of each)
// error: partial_meets_partial<X_mesh>
#include <ostraka/algebra/contract.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I, J, os::partial(X)> const& a, os::tensor<float, J, K, os::partial(X)> const& b) {
  return os::contract<J>(a, b);
}
#else
auto f(os::tensor<float, I, J, os::partial(X)> const& a, os::tensor<float, J, K, os::partial(X)> const& b) {
  return os::einsum<I, K>(a, b);
}
#endif
