// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: tensors that meet element by element divide an axis over different mesh axes
// error: map: in operations element by element, such as A + B, an axis that several tensors share is divided alike in all of them, or in one of them over the first mesh axes only (the rest is a free slice); reshard one of them first, as in A + os::reshard<I/X, J>(B)
// error: axis_split_differently<I_axis, X_mesh, Y_mesh>
#include <ostraka/elements/map.hpp>
#include <ostraka/moves/reshard.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I / X> const& a, os::tensor<float, I / Y> const& b) {
  return os::map([](float u, float v) { return u * v; }, a, b);
}
#else
auto f(os::tensor<float, I / X> const& a, os::tensor<float, I / Y> const& b) {
  return os::map([](float u, float v) { return u * v; }, a, os::reshard<I / X>(b));
}
#endif
