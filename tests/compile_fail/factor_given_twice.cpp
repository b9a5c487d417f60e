// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: alpha is given twice
// error: einsum_into: alpha and beta are given at most once each; drop one of the two
// error: factor_given_twice<ostraka::alpha_factor>
#include <ostraka/algebra/einsum_into.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
void f(os::tensor<float, I, K> const& c, os::tensor<float, I, J> const& a, os::tensor<float, J, K> const& b) {
  os::einsum_into(c, a, b, os::alpha = 2, os::alpha = 1);
}
#else
void f(os::tensor<float, I, K> const& c, os::tensor<float, I, J> const& a, os::tensor<float, J, K> const& b) {
  os::einsum_into(c, a, b, os::alpha = 2, os::beta = 1);
}
#endif
