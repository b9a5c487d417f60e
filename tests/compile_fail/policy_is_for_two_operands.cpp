// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a policy that speaks of a left and a right operand is given with three
// error: einsum: os::gather_left, os::gather_right and os::reduce_result are for two operands; multiply two of them in a call of their own, or bound what is moved with os::at_most or os::no_communication
// error: policy_is_for_two_operands<policy<planner::admit::gather_left>, 3>
#include <ostraka/algebra/einsum.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_AXIS(L);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I, J / X> const& a, os::tensor<float, J / X, K> const& b, os::tensor<float, K, L> const& c) {
  return os::einsum<I, L>(a, b, c, os::gather_left);
}
#else
auto f(os::tensor<float, I, J / X> const& a, os::tensor<float, J / X, K> const& b, os::tensor<float, K, L> const& c) {
  return os::einsum<I, L>(a, b, c, os::at_most<1 << 30>);
}
#endif
