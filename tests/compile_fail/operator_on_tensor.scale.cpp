// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a tensor is scaled by an operator
// error: operator: tensors have none, because A * B does not say which axes are summed, repeated or divided; write os::einsum<I/X, K>(A, B) or os::contract<J>(A, B), element by element os::add(A, B), os::subtract, os::multiply or os::divide, where one of the two may be a number, and in place os::map_into(A, f, A, B)
// error: operator_on_tensor<double, ostraka::basic_tensor<float
#include <ostraka/ostraka.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I> const& a) { return 2.0 * a; }
#else
auto f(os::tensor<float, I> const& a) { return os::scale(2.0, a); }
#endif
