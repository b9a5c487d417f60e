// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: an einsum is given something that is neither a tensor nor a policy at the end
// error: einsum: the arguments are tensors, followed by at most one policy, such as os::gather_left, and in einsum_into by os::alpha = 2 and os::beta = 1; make a tensor of an array with os::from_local, and drop any other argument
// error: not_an_operand<double>
#include <ostraka/algebra/einsum.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I, J / X> const& a, os::tensor<float, J / X, K> const& b) {
  return os::einsum<I, K>(a, b, 2.0);
}
#else
auto f(os::tensor<float, I, J / X> const& a, os::tensor<float, J / X, K> const& b) {
  return os::einsum<I, K>(a, b, os::reduce_result);
}
#endif
