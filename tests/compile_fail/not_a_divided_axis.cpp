// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a verb that divides an axis is given a mesh axis, or the axis, alone
// error: verb: os::slice, os::reduce_scatter, os::all_to_all and the like take an axis and the mesh axes that divide it; write I/X, or use os::reshard
// error: not_a_divided_axis<X_mesh>
#include <ostraka/moves/slice.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I> const& a) { return os::slice<X>(a); }
#else
auto f(os::tensor<float, I> const& a) { return os::slice<I / X>(a); }
#endif
