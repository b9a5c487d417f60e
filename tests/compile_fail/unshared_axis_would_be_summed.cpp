// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a rename is forgotten, so that each of two operands has an axis of its own, which the result lacks
// error: einsum: an axis that only one of several operands has, and the result lacks, is summed on its own only on request; give it the name of the axis that it is to meet in another operand, by the rename shown here, sum it first with os::sum, or request the sum, as in os::einsum<B, H>(A, B, os::sum_over(N))
// error: unshared_axis_would_be_summed<N_axis
// error: rename<N_axis, M_axis>
#include <ostraka/algebra/einsum.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(B);
OSTRAKA_AXIS(M);
OSTRAKA_AXIS(N);
OSTRAKA_AXIS(H);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, B / X, M> const& h, os::tensor<float, N, H> const& w) { return os::einsum<B / X, H>(h, w); }
#else
auto f(os::tensor<float, B / X, M> const& h, os::tensor<float, N, H> const& w) {
  return os::einsum<B / X, H>(h, w, os::sum_over(M, N));
}
#endif
