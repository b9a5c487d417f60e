// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a tensor is assigned to one that is divided in another way
// error: assignment: a tensor is assigned or passed only to one of the same sharding, because anything else would move it; write os::reshard<I/X, J>(A) with the dimensions of the target
// error: assigned_another_sharding<sharding<over<I_axis, X_mesh>, J_axis>, sharding<I_axis, over<J_axis, X_mesh>>>
#include <ostraka/moves/reshard.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
void f(os::tensor<float, I / X, J> const& rows, os::tensor<float, I, J / X>& columns) { columns = rows; }
#else
void f(os::tensor<float, I / X, J> const& rows, os::tensor<float, I, J / X>& columns) {
  columns = os::reshard<I, J / X>(rows);
}
#endif
