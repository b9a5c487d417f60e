// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a factor of integers is no integer
// error: number: a number that meets elements is of their kind: a whole number for integers, a real one for float, double and 16-bit elements; give such a number, or convert the tensor first
// error: number_of_another_kind<double, int>
#include <ostraka/algebra/einsum_into.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
void f(os::tensor<int, I> const& c, os::tensor<int, I> const& a) { os::einsum_into(c, a, os::alpha = 0.5); }
#else
void f(os::tensor<int, I> const& c, os::tensor<int, I> const& a) { os::einsum_into(c, a, os::alpha = 2); }
#endif
