// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: it varies along one mesh axis and becomes what varies along two
// error: assignment: a block that varies along a mesh axis is not assigned to one that does not
// error: loop_changes_variance<Y_mesh, sharding<I_axis, varying<X_mesh, Y_mesh>>, sharding<I_axis, varying<X_mesh>>>
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

#ifdef SHOULD_FAIL
void f(os::tensor<float, I, os::varying(X)>& one, os::tensor<float, I, os::varying(X, Y)> const& both) { one = both; }
#else
void f(os::tensor<float, I, os::varying(X)> const& one, os::tensor<float, I, os::varying(X, Y)>& both) { both = one; }
#endif
