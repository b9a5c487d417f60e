// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a number is added to a partial sum, to which every device would add it
// error: partial: the operation needs values, and a partial tensor holds parts of them
// error: partial_in_nonlinear_operation<X_mesh, operation::add>
#include <ostraka/elements/arithmetic.hpp>
#include <ostraka/moves/all_reduce.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I, os::partial(X)> const& a) { return os::add(a, 1.0); }
#else
auto f(os::tensor<float, I, os::partial(X)> const& a) { return os::add(os::all_reduce<X>(a), 1.0); }
#endif
