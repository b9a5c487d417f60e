// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a tensor is scaled in place by an operator
// error: operator: tensors have no +=
// error: operator_in_place<ostraka::basic_tensor<float
#include <ostraka/ostraka.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);

#ifdef SHOULD_FAIL
void f(os::tensor<float, I> a) { a *= 2; }
#else
void f(os::tensor<float, I> a) { a = 2 * a; }
#endif
