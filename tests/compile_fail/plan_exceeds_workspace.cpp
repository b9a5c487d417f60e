// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: all sizes are static, and every plan of an einsum takes more workspace than it may in any passes
// error: policy: os::within<bytes>() is the workspace that each device may take at most, and every plan takes more, in any number of passes over a label: the least (first number) is above the limit (second number); raise the limit, or name shardings that gather less (os::describe(os::plan<I, K>(A, B)) shows the steps)
// error: plan_exceeds_workspace<16, 15>
#include <ostraka/algebra/einsum.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I, 8);
OSTRAKA_AXIS(J, 16);
OSTRAKA_AXIS(K, 4);
OSTRAKA_MESH_AXIS(X, 2);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I / X, J> const& a, os::tensor<float, J / X, K> const& b) {
  return os::einsum<I / X, K>(a, b, os::within<15>());
}
#else
auto f(os::tensor<float, I / X, J> const& a, os::tensor<float, J / X, K> const& b) {
  return os::einsum<I / X, K>(a, b, os::within<16>());  // a row of B at once
}
#endif
