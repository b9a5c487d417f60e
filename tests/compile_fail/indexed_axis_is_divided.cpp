// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: rows are taken of a table that is divided along the axis that goes, and the result is not named
// error: operation: each device has a part of the axis that the indices point into, so the results are summands, and nothing moves unless the result is named; name its axes, as in os::take<V, I, D>(table, index)
// error: indexed_axis_is_divided<V_axis,
#include <ostraka/operations.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(V);
OSTRAKA_AXIS(I);
OSTRAKA_AXIS(D);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, V/X, D> const& a, os::tensor<int, I> const& index) { return os::take<V>(a, index); }
#else
auto f(os::tensor<float, V/X, D> const& a, os::tensor<int, I> const& index) { return os::take<V, I, D>(a, index); }
#endif
