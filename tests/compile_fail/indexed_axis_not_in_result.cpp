// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the result of os::scatter_add lacks the axis that the indices point into
// error: scatter_add: the result has the axis that the indices point into; name it among the result's dimensions, as in os::scatter_add<V, V/X, D>(rows, index, V = 100)
// error: indexed_axis_not_in_result<V_axis,
#include <ostraka/operations.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(V);
OSTRAKA_AXIS(I);
OSTRAKA_AXIS(D);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I, D> const& rows, os::tensor<int, I> const& index) {
  return os::scatter_add<V, D>(rows, index, V = 9);
}
#else
auto f(os::tensor<float, I, D> const& rows, os::tensor<int, I> const& index) {
  return os::scatter_add<V, V, D>(rows, index, V = 9);
}
#endif
