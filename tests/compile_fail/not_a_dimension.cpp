// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a mesh axis, a number or something else stands where a dimension is expected
// error: sharding: the dimensions of a tensor are axes (I), divided axes (I/X) and os::partial(X); declare axes with OSTRAKA_AXIS
// error: not_a_dimension<X_mesh>
#include <ostraka/tensors/tensor.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
os::tensor<float, I, X> A;
#else
os::tensor<float, I / X> A;
#endif
