// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a token of a divided vocabulary is drawn, which is not said
// error: operation: the axis is divided over a mesh axis
// error: axis_is_divided<V_axis, operation::sample<V_axis
#include <ostraka/operations.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(B);
OSTRAKA_AXIS(V);
OSTRAKA_MESH_AXIS(Y);

using logits = os::tensor<float, B, V/Y>;

#ifdef SHOULD_FAIL
auto f(logits const& x) { return os::sample<V>(x, os::seed(1)); }
#else
auto f(logits const& x) { return os::sample<V/Y>(x, os::seed(1)); }
#endif
