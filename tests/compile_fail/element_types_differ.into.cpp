// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the tensor that is written to has other elements
// error: elements: tensors that meet in an operation, and both sides of an assignment, have the same element type; convert one with os::cast first
// error: element_types_differ<double, float>
#include <ostraka/algebra/einsum_into.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
void f(os::tensor<double, I, K> const& c, os::tensor<float, I, J> const& a, os::tensor<float, J, K> const& b) {
  os::einsum_into(c, a, b);
}
#else
void f(os::tensor<float, I, K> const& c, os::tensor<float, I, J> const& a, os::tensor<float, J, K> const& b) {
  os::einsum_into(c, a, b);
}
#endif
