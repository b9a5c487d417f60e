// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the tensor already has an axis of the new name
// error: rename: the new name is not yet an axis of the tensor; choose another name or rename that axis first
// error: renamed_axis_collides<J_axis>
#include <ostraka/moves/rename.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I / X, J> const& a) { return os::rename<I, J>(a); }
#else
auto f(os::tensor<float, I / X, J> const& a) { return os::rename<I, J>(os::rename<J, K>(a)); }
#endif
