// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the axis to be renamed is none of the tensor
// error: rename: the renamed axis is an axis of the tensor; name one that it has
// error: renamed_axis_missing<K_axis>
#include <ostraka/moves/rename.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I / X, J> const& a) { return os::rename<K, J>(a); }
#else
auto f(os::tensor<float, I / X, J> const& a) { return os::rename<J, K>(a); }
#endif
