// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a function is given a tensor of another sharding than it takes
// error: assignment: a tensor is assigned or passed only to one of the same sharding, because anything else would move it; write os::reshard<I/X, J>(A)
// error: assigned_another_sharding<sharding<I_axis, J_axis, partial_sum<X_mesh>>, sharding<over<I_axis, X_mesh>, J_axis>>
#include <ostraka/moves/reshard.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);

void layer(os::tensor<float, I / X, J> const& a);

#ifdef SHOULD_FAIL
void f(os::tensor<float, I, J, os::partial(X)> const& a) { layer(a); }
#else
void f(os::tensor<float, I, J, os::partial(X)> const& a) { layer(os::reshard<I / X, J>(a)); }
#endif
