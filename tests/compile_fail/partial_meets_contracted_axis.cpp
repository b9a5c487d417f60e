// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: one operand is partial over a mesh axis that divides the contracted axis of the other: (P, S(j)) and (S(j), P)
// error: contract: one operand is partial over a mesh axis that divides a contracted axis of the other; name the result with os::einsum to authorise a reduce-scatter of the former onto the contracted axis (moves (n-1)/n of it) and a reduction of the result
// error: partial_meets_contracted_axis<X_mesh, J_axis>
#include <ostraka/algebra/contract.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I, J, os::partial(X)> const& a, os::tensor<float, J / X, K> const& b) {
  return os::contract<J>(a, b);
}
#else
auto f(os::tensor<float, I, J, os::partial(X)> const& a, os::tensor<float, J / X, K> const& b) {
  return os::einsum<I, K>(a, b);
}
#endif
