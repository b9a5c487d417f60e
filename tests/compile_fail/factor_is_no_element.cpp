// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a factor of integers is no integer
// error: einsum_into: alpha and beta are numbers of the elements' kind: whole ones for integers, real ones for float and double; give such a number
// error: factor_is_no_element<double, int>
#include <ostraka/einsum_into.hpp>
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
