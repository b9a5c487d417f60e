// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: more than two tensors are multiplied at once
// error: einsum: one or two operands are multiplied at a time; multiply more of them pairwise
// error: too_many_operands<3>
#include <ostraka/einsum.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_AXIS(L);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
void f(os::tensor<float, I / X, J> const& a, os::tensor<float, J, K> const& b, os::tensor<float, K, L> const& c) {
  auto d = os::einsum<I / X, L>(a, b, c);
  static_cast<void>(d.extent(L));
}
#else
void f(os::tensor<float, I / X, J> const& a, os::tensor<float, J, K> const& b, os::tensor<float, K, L> const& c) {
  auto d = os::einsum<I / X, L>(os::einsum<I / X, K>(a, b), c);
  static_cast<void>(d.extent(L));
}
#endif
