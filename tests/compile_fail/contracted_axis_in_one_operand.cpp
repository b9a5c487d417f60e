// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: os::contract is to sum over an axis that one operand alone has
// error: contract: a contracted axis is an axis of both operands, and this one is in one of them; give the axes that are to meet one name with os::rename, sum this one first with os::sum, or ask for both with os::einsum and os::sum_over(N)
// error: contracted_axis_in_one_operand<M_axis
#include <ostraka/algebra/contract.hpp>
#include <ostraka/moves/rename.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(B);
OSTRAKA_AXIS(M);
OSTRAKA_AXIS(N);
OSTRAKA_AXIS(H);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, B, M> const& h, os::tensor<float, N, H> const& w) { return os::contract<M>(h, w); }
#else
auto f(os::tensor<float, B, M> const& h, os::tensor<float, N, H> const& w) {
  return os::contract<M>(h, os::rename<N, M>(w));
}
#endif
