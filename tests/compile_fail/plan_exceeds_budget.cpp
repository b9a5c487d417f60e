// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: all sizes are static, and the plan of an einsum moves more than it may
// error: policy: os::at_most<bytes> is what each device may move at most, and the plan (first number) moves more than the budget (second number); raise the budget, or name shardings that move less (os::describe(os::plan<I, K>(A, B)) shows the steps)
// error: plan_exceeds_budget<128, 127>
#include <ostraka/algebra/einsum.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I, 8);
OSTRAKA_AXIS(J, 16);
OSTRAKA_AXIS(K, 4);
OSTRAKA_MESH_AXIS(X, 2);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I, J / X> const& a, os::tensor<float, J / X, K> const& b) {
  return os::einsum<I, K>(a, b, os::at_most<127>);
}
#else
auto f(os::tensor<float, I, J / X> const& a, os::tensor<float, J / X, K> const& b) {
  return os::einsum<I, K>(a, b, os::at_most<128>);
}
#endif
