// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the largest elements along an axis that is divided are asked for, which is not said
// error: operation: the axis is divided over a mesh axis
// error: axis_is_divided<J_axis, operation::top_k<
#include <ostraka/operations.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I, J/X> const& a) {
  auto [values, indices] = os::top_k<J, K>(a, K = 3);
  return values;
}
#else
auto f(os::tensor<float, I, J/X> const& a) {
  auto [values, indices] = os::top_k<J / X, K>(a, K = 3);
  return values;
}
#endif
