// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a mesh axis divides the axis along which tensors are stacked
// error: operation: it works along an axis that is whole on every device
// error: axis_must_be_whole<T_axis, sharding<over<T_axis, X_mesh>, I_axis>,
#include <ostraka/operations/shapes/stack.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(T);
OSTRAKA_MESH_AXIS(X);

using row = os::tensor<float, I>;
#ifdef SHOULD_FAIL
auto f(row const& a, row const& b) { return os::stack<T/X, I>(a, b); }
#else
auto f(row const& a, row const& b) { return os::stack<T, I>(a, b); }
#endif
