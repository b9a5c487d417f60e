// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a partial sum is multiplied by a tensor that is divided over its mesh axis
// error: partial: an operand is partial over a mesh axis that divides an axis of another, and its block would lack the parts of the other devices
// error: partial_meets_divided_axis<X_mesh, J_axis>
#include <ostraka/elements/arithmetic.hpp>
#include <ostraka/moves/reduce_scatter.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I, J, os::partial(X)> const& a, os::tensor<float, J / X> const& b) {
  return os::multiply(a, b);
}
#else
auto f(os::tensor<float, I, J, os::partial(X)> const& a, os::tensor<float, J / X> const& b) {
  return os::multiply(os::reduce_scatter<J / X>(a), b);
}
#endif
