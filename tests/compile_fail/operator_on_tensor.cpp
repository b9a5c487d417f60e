// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: two tensors are multiplied by an operator
// error: operator: tensors have none, because A * B does not say which axes are summed, repeated or divided; write os::einsum<I/X, K>(A, B) or os::contract<J>(A, B), element by element os::add(A, B), os::subtract, os::multiply or os::divide, where one of the two may be a number, and in place os::map_into(A, f, A, B)
// error: operator_on_tensor<ostraka::basic_tensor<float
#include <ostraka/ostraka.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I, J> const& a, os::tensor<float, J, K> const& b) { return a * b; }
#else
auto f(os::tensor<float, I, J> const& a, os::tensor<float, J, K> const& b) { return os::einsum<I, K>(a, b); }
#endif
