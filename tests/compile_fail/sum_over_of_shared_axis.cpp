// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: os::sum_over names an axis that both operands have
// error: einsum: os::sum_over names axes that only one operand has and the result lacks, and this one is kept, or summed together with another operand's; drop it from os::sum_over
// error: sum_over_of_shared_axis<M_axis>
#include <ostraka/algebra/einsum.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(B);
OSTRAKA_AXIS(L);
OSTRAKA_AXIS(M);
OSTRAKA_AXIS(H);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, B, M> const& h, os::tensor<float, L, M, H> const& w) {
  return os::einsum<B, H>(h, w, os::sum_over(L, M));
}
#else
auto f(os::tensor<float, B, M> const& h, os::tensor<float, L, M, H> const& w) {
  return os::einsum<B, H>(h, w, os::sum_over(L));
}
#endif
