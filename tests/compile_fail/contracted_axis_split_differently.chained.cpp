// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the refused product is an operand of the next operations, which say nothing
// error: contract: a contracted axis is divided alike in both operands
// error: contracted_axis_split_differently<J_axis, X_mesh, Y_mesh>
#include <ostraka/algebra/contract.hpp>
#include <ostraka/algebra/reductions.hpp>
#include <ostraka/elements/map.hpp>
#include <ostraka/moves/reshard.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

#ifdef SHOULD_FAIL
void f(os::tensor<float, I, J / X> const& a, os::tensor<float, J / Y, K> const& b) {
  auto c = os::contract<J>(a, b);
  auto d = os::map([](float u, float v) { return u * v; }, c, os::contract<>(os::sum<I>(c), os::sum<K>(c)));
  static_cast<void>(os::reshard<I / X, K>(d).extent(K));
}
#else
void f(os::tensor<float, I, J / X> const& a, os::tensor<float, J / Y, K> const& b) {
  auto c = os::einsum<I, K>(a, b);
  auto d = os::map([](float u, float v) { return u * v; }, c, os::contract<>(os::sum<I>(c), os::sum<K>(c)));
  static_cast<void>(os::reshard<I / X, K>(d).extent(K));
}
#endif
