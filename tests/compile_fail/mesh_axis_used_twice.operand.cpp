// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a function takes a tensor that cannot be made
// error: sharding: a mesh axis is used by a tensor at most once,
// error: mesh_axis_used_twice<X_mesh, I_axis, J_axis>
#include <ostraka/elements/map.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I / X, J / X> const& a) { return os::map([](float v) { return v * v; }, a); }
#else
auto f(os::tensor<float, I / X, J / Y> const& a) { return os::map([](float v) { return v * v; }, a); }
#endif
