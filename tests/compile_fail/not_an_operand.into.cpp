// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a factor of an einsum into a tensor has no name
// error: einsum: the arguments are tensors, followed by at most one policy, such as os::gather_left, and in einsum_into by os::alpha = 2 and os::beta = 1; make a tensor of an array with os::from_local, and drop any other argument
// error: not_an_operand<double>
#include <ostraka/algebra/einsum_into.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
void f(os::tensor<float, I, K> const& c, os::tensor<float, I, J> const& a, os::tensor<float, J, K> const& b) {
  os::einsum_into(c, a, b, 2.0);
}
#else
void f(os::tensor<float, I, K> const& c, os::tensor<float, I, J> const& a, os::tensor<float, J, K> const& b) {
  os::einsum_into(c, a, b, os::alpha = 2.0);
}
#endif
