// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the number of a partial tensor
// error: partial: the operation needs values, and a partial tensor holds parts of them (for summands, f(a) + f(b) is not f(a + b));
// error: partial_in_nonlinear_operation<X_mesh, operation::value>
#include <ostraka/arrays/value.hpp>
#include <ostraka/moves/all_reduce.hpp>
namespace os = ostraka;

OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
float f(os::tensor<float, os::partial(X)> const& a) { return os::value(a); }
#else
float f(os::tensor<float, os::partial(X)> const& a) { return os::value(os::all_reduce<X>(a)); }
#endif
