// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: more than eight tensors are multiplied at once
// error: operation: it takes at most eight tensors at a time; combine some of them first
// error: too_many_operands<9>
#include <ostraka/algebra/einsum.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
void f(os::tensor<float, I / X> const& a, os::tensor<float, I / X, J> const& b) {
  auto c = os::einsum<I / X, J>(a, a, a, a, a, a, a, a, b);
  static_cast<void>(c.extent(J));
}
#else
void f(os::tensor<float, I / X> const& a, os::tensor<float, I / X, J> const& b) {
  auto c = os::einsum<I / X, J>(os::einsum<I / X>(a, a), a, a, b);
  static_cast<void>(c.extent(J));
}
#endif
