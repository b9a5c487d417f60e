// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a mesh axis divides an axis that only one operand has, and the contracted axis of the other: (S(i), S(j)) and
//       (S(j), S(k))
// error: contract: a mesh axis divides an outer axis of one operand and a contracted axis of the other; name the result with os::einsum to authorise an all-gather of the latter (moves (n-1)/n of it), or an all-to-all of the former to the contracted axis (moves (n-1)/n^2 of it) and a reduction of the result
// error: outer_axis_meets_contracted_axis<I_axis, J_axis, X_mesh>
#include <ostraka/algebra/contract.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I / X, J> const& a, os::tensor<float, J / X, K> const& b) { return os::contract<J>(a, b); }
#else
auto f(os::tensor<float, I / X, J> const& a, os::tensor<float, J / X, K> const& b) {
  return os::einsum<I / X, K>(a, b);
}
#endif
