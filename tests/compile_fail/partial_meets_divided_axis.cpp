// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a partial tensor is added to one that is divided over the same mesh axis
// error: partial: an operand is partial over a mesh axis that divides an axis of another, and its block would lack the parts of the other devices; reduce it first with os::reduce_scatter onto that axis (moves (n-1)/n of it)
// error: partial_meets_divided_axis<X_mesh, I_axis>
#include <ostraka/elements/arithmetic.hpp>
#include <ostraka/moves/reshard.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I / X> const& a, os::tensor<float, I, os::partial(X)> const& b) { return os::add(a, b); }
#else
auto f(os::tensor<float, I / X> const& a, os::tensor<float, I, os::partial(X)> const& b) {
  return os::add(a, os::reshard<I / X>(b));
}
#endif
