// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a verb names an axis that the tensor lacks
// error: tensor: the axis asked for is an axis of the tensor;
// error: axis_missing<J_axis, sharding<I_axis>>
#include <ostraka/moves/slice.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I> const& a) { return os::slice<J / X>(a); }
#else
auto f(os::tensor<float, I> const& a) { return os::slice<I / X>(a); }
#endif
