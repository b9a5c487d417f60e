// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a tensor names an axis twice; a square matrix needs two names
// error: sharding: an axis occurs in a tensor at most once; give the second one a name of its own, as os::rename does
// error: axis_used_twice<I_axis>
#include <ostraka/tensors/tensor.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
os::tensor<float, I / X, I> A;
#else
os::tensor<float, I / X, J> A;
#endif
