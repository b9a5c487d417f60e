// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a factor of real numbers is complex
// error: number: a number that meets elements is of their kind: a whole number for integers, a real one for float, double and 16-bit elements; give such a number, or convert the tensor first
// error: number_of_another_kind<std::complex<float>, float>
#include <ostraka/algebra/einsum_into.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
void f(os::tensor<float, I> const& c, os::tensor<float, I> const& a) {
  os::einsum_into(c, a, os::beta = std::complex<float>(0, 1));
}
#else
void f(os::tensor<std::complex<float>, I> const& c, os::tensor<std::complex<float>, I> const& a) {
  os::einsum_into(c, a, os::beta = std::complex<float>(0, 1));
}
#endif
