// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: an operator meets operands that are divided differently
// error: axis_split_differently<I_axis, X_mesh, Y_mesh>
#include <ostraka/ostraka.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X> const& a, os::tensor<float, I/Y> const& b) { return a + b; }
#else
auto f(os::tensor<float, I/X> const& a, os::tensor<float, I/Y> const& b) { return a + os::reshard<I/X>(b); }
#endif
