// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the tensor that is written to has an axis that no operand has
// error: result: each axis of the result is an axis of an operand; drop it from the result or use an operand that has it
// error: result_axis_in_no_operand<K_axis>
#include <ostraka/algebra/einsum_into.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
void f(os::tensor<float, I, K> const& c, os::tensor<float, I, J> const& a) { os::einsum_into(c, a); }
#else
void f(os::tensor<float, I> const& c, os::tensor<float, I, J> const& a) { os::einsum_into(c, a); }
#endif
