// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the rows of os::scatter_add have the axis that the indices point into
// error: operation: the rows that are added lack the axis that the indices point into; rename the axis of the rows with os::rename
// error: rows_have_the_axis<V_axis,
#include <ostraka/operations.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(V);
OSTRAKA_AXIS(I);
OSTRAKA_AXIS(D);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I, V> const& rows, os::tensor<int, I> const& index) {
  return os::scatter_add<V, V>(rows, index, V = 9);
}
#else
auto f(os::tensor<float, I, V> const& rows, os::tensor<int, I> const& index) {
  return os::scatter_add<V, V, D>(os::rename<V, D>(rows), index, V = 9);
}
#endif
