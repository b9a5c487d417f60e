// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a result is written to a tensor that can only be read
// error: tensor: a tensor of constant elements, such as those of a constant view, is read-only; write to a tensor of your own, such as os::copy(A)
// error: elements_are_constant<const float>
#include <ostraka/algebra/einsum_into.hpp>
#include <ostraka/creation/copy.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
void f(os::tensor<float const, I / X> const& a, os::tensor<float, I / X> const& b) {
  os::einsum_into(a, b, os::beta = 1);
}
#else
void f(os::tensor<float const, I / X> const& a, os::tensor<float, I / X> const& b) {
  os::einsum_into(os::copy(a), b, os::beta = 1);
}
#endif
