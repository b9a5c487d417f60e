// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the target of a reshard has other axes
// error: reshard: source and target must have the same axes, in any order; use os::sum or os::einsum to reduce, os::broadcast to repeat, os::rename to rename
// error: reshard_changes_axes<
#include <ostraka/moves/reshard.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
void f(os::tensor<float, I / X, J> const& a) { os::tensor<float, J / X, K> b = os::reshard<J / X, K>(a); }
#else
void f(os::tensor<float, I / X, J> const& a) { os::tensor<float, J / X, I> b = os::reshard<J / X, I>(a); }
#endif
