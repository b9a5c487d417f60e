// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: an index of os::scatter_add has an axis that the rows lack
// error: operation: every index belongs to a row, so the rows have all axes of the index; broadcast the rows along the axis, or leave it out of the index
// error: index_axis_not_in_rows<I_axis,
#include <ostraka/operations.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(V);
OSTRAKA_AXIS(I);
OSTRAKA_AXIS(D);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, D> const& rows, os::tensor<int, I> const& index) {
  return os::scatter_add<V, V, D>(rows, index, V = 9);
}
#else
auto f(os::tensor<float, I, D> const& rows, os::tensor<int, I> const& index) {
  return os::scatter_add<V, V, D>(rows, index, V = 9);
}
#endif
