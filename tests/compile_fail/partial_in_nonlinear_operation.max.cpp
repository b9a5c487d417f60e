// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the maximum of a partial tensor
// error: partial: the operation wants values, and a partial tensor holds summands (f(a) + f(b) is not f(a + b));
// error: partial_in_nonlinear_operation<X_mesh, operation::max>
#include <ostraka/reductions.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I, J, os::partial(X)> const& a) { return os::max<I>(a); }
#else
auto f(os::tensor<float, I, J, os::partial(X)> const& a) { return os::sum<I>(a); }
#endif
