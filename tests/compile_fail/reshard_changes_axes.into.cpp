// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a tensor that os::reshard_into writes to has other axes
// error: reshard_changes_axes<sharding<I_axis, J_axis>, sharding<J_axis>>
#include <ostraka/moves/reshard_into.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
void f(os::tensor<float, J> const& b, os::tensor<float, I, J> const& a) { os::reshard_into(b, a); }
#else
void f(os::tensor<float, J / X, I> const& b, os::tensor<float, I, J> const& a) { os::reshard_into(b, a); }
#endif
