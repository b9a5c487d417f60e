// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a partial tensor is copied out
// error: partial: the operation needs values, and a partial tensor holds parts of them (for summands, f(a) + f(b) is not f(a + b));
// error: partial_in_nonlinear_operation<X_mesh, operation::gather_to_root>
#include <ostraka/arrays/gather_to_root.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I, os::partial(X)> const& a) { return os::gather_to_root(a); }
#else
auto f(os::tensor<float, I> const& a) { return os::gather_to_root(a); }
#endif
