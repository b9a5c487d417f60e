// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a tensor is added to another in place by an operator
// error: operator: tensors have no +=, -=, *= and /=, because other handles may share the block, and the operator would change them too, or detach this one; write A = A + B, which makes a new tensor, or os::map_into(A, f, A, B), which writes into the block
// error: operator_in_place<ostraka::basic_tensor<float
#include <ostraka/ostraka.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);

#ifdef SHOULD_FAIL
void f(os::tensor<float, I> const& a, os::tensor<float, I> const& b) { a += b; }
#else
void f(os::tensor<float, I> a, os::tensor<float, I> const& b) { a = a + b; }
#endif
