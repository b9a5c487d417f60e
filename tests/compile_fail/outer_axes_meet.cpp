// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a mesh axis divides an axis of the left operand that the right one lacks, and an axis of the right one that the
//       left one lacks: (S(i), S(k))
// error: contract: a mesh axis divides an outer axis of both operands, so that a device would hold only the diagonal blocks; name the result with os::einsum to authorise an all-gather of either operand (moves (n-1)/n of it), or an all-to-all of both to a contracted axis (moves (n-1)/n^2 of each) and a reduction of the result
// error: outer_axes_meet<I_axis, K_axis, X_mesh>
#include <ostraka/algebra/contract.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I / X, J> const& a, os::tensor<float, J, K / X> const& b) { return os::contract<J>(a, b); }
#else
auto f(os::tensor<float, I / X, J> const& a, os::tensor<float, J, K / X> const& b) {
  return os::einsum<I / X, K>(a, b);
}
#endif
