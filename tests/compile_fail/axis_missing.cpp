// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a tensor is asked for the extent or the offset of an axis that it lacks
// error: tensor: the axis asked for is an axis of the tensor; name one that it has
// error: axis_missing<J_axis, sharding<over<I_axis, X_mesh>>>
#include <ostraka/tensors/tensor.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I / X> const& a) { return a.extent(J); }
#else
auto f(os::tensor<float, I / X> const& a) { return a.extent(I); }
#endif
