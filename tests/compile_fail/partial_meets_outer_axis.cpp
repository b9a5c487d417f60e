// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: one operand is partial over a mesh axis that divides an axis that only the other has: (P, S(k)) and (S(i), P)
// error: contract: one operand is partial over a mesh axis that divides an outer axis of the other; name the result with os::einsum to authorise an all-reduce of the former (moves 2(n-1)/n of it), or its reduce-scatter and an all-to-all of the latter, both onto a contracted axis
// error: partial_meets_outer_axis<X_mesh, K_axis>
#include <ostraka/algebra/contract.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I, J, os::partial(X)> const& a, os::tensor<float, J, K / X> const& b) {
  return os::contract<J>(a, b);
}
#else
auto f(os::tensor<float, I, J, os::partial(X)> const& a, os::tensor<float, J, K / X> const& b) {
  return os::einsum<I, K / X>(a, b);
}
#endif
