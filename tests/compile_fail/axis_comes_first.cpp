// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a mesh axis is divided by an axis
// error: sharding: an axis is divided over a mesh axis, not the other way round; write the axis first, as in I/X
// error: axis_comes_first<X_mesh, I_axis>
#include <ostraka/moves/reshard.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I, J> const& a) { return os::reshard<X / I, J>(a); }
#else
auto f(os::tensor<float, I, J> const& a) { return os::reshard<I / X, J>(a); }
#endif
