// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the refused product is given a type, and used
// error: contract: a contracted axis is divided alike in both operands
// error: contracted_axis_split_differently<J_axis, X_mesh, Y_mesh>
#include <ostraka/algebra/contract.hpp>
#include <ostraka/algebra/reductions.hpp>
#include <ostraka/elements/map.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

#ifdef SHOULD_FAIL
void f(os::tensor<float, I, J / X> const& a, os::tensor<float, J / Y, K> const& b) {
  os::tensor<float, I, K> c = os::contract<J>(a, b);
  auto d = os::map([](float v) { return v * v; }, c);
  static_cast<void>(os::max<I>(d));
}
#else
void f(os::tensor<float, I, J / X> const& a, os::tensor<float, J / Y, K> const& b) {
  os::tensor<float, I, K> c = os::einsum<I, K>(a, b);
  auto d = os::map([](float v) { return v * v; }, c);
  static_cast<void>(os::max<I>(d));
}
#endif
