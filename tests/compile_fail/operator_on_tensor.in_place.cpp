// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a tensor is added to another in place by an operator
// error: operator: tensors have none, because A * B does not say which axes are summed, repeated or divided; write os::einsum<I/X, K>(A, B) or os::contract<J>(A, B), element by element os::add(A, B), os::subtract, os::multiply or os::divide, where one of the two may be a number, and in place os::map_into(A, f, A, B)
// error: operator_on_tensor<ostraka::basic_tensor<float
#include <ostraka/ostraka.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);

#ifdef SHOULD_FAIL
void f(os::tensor<float, I> const& a, os::tensor<float, I> const& b) { a += b; }
#else
void f(os::tensor<float, I> const& a, os::tensor<float, I> const& b) {
  os::map_into(
      a, [](float x, float y) { return x + y; }, a, b);
}
#endif
