// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a factor of real numbers is complex
// error: einsum_into: alpha and beta are numbers of the elements' kind: whole ones for integers, real ones for float and double; give such a number
// error: factor_is_no_element<std::complex<float>, float>
#include <ostraka/einsum_into.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
void f(os::tensor<float, I> const& c, os::tensor<float, I> const& a) { os::einsum_into(c, a, os::beta = std::complex<float>(0, 1)); }
#else
void f(os::tensor<std::complex<float>, I> const& c, os::tensor<std::complex<float>, I> const& a) { os::einsum_into(c, a, os::beta = std::complex<float>(0, 1)); }
#endif
