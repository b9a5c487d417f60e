// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the result names an axis that no operand has
// error: result: each axis of the result is an axis of an operand; drop it from the result or use an operand that has it
// error: result_axis_in_no_operand<L_axis>
#include <ostraka/algebra/einsum.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_AXIS(L);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I / X, J> const& a, os::tensor<float, J, K> const& b) { return os::einsum<I / X, L>(a, b); }
#else
auto f(os::tensor<float, I / X, J> const& a, os::tensor<float, J, K> const& b) { return os::einsum<I / X, K>(a, b); }
#endif
