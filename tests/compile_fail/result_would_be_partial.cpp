// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a contracted axis is divided, alike on both sides or on one only, or one operand is partial: nothing has to be
//       moved, but the result would be partial: (S(j), S(j)), (S(j), R), (R, S(j)), (P, R), (R, P)
// error: contract: the result would be partial over a mesh axis, and a partial result is given only when it is asked for; name the result with os::einsum, with os::partial to defer the reduction, without it to authorise an all-reduce (moves 2(n-1)/n of the result) or a reduce-scatter (moves (n-1)/n)
// error: result_would_be_partial<X_mesh, J_axis>
#include <ostraka/algebra/contract.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I, J / X> const& a, os::tensor<float, J / X, K> const& b) { return os::contract<J>(a, b); }
#else
auto f(os::tensor<float, I, J / X> const& a, os::tensor<float, J / X, K> const& b) {
  return os::einsum<I, K, os::partial(X)>(a, b);
}
#endif
