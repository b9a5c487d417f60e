// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a tensor that is partial by a sum and by a maximum
// error: sharding: a tensor is partial in one way only, because a maximum of sums is not the sum of the maxima; reduce it over the mesh axes of one of them first
// error: partial_in_two_ways<partial_sum<X_mesh>, partial_max<Y_mesh>>
#include <ostraka/tensors/tensor.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

#ifdef SHOULD_FAIL
os::tensor<float, I, os::partial(X), os::partial_max(Y)> a;
#else
os::tensor<float, I, os::partial_max(X), os::partial_max(Y)> a;
#endif
