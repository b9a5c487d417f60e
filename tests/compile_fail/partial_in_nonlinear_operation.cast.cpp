// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a partial sum is cast to a type that rounds
// error: partial: the operation needs values, and a partial tensor holds parts of them (for summands, f(a) + f(b) is not f(a + b));
// error: partial_in_nonlinear_operation<X_mesh, operation::cast<float>>
#include <ostraka/elements/arithmetic.hpp>
#include <ostraka/elements/cast.hpp>
#include <ostraka/moves/all_reduce.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<double, I, os::partial(X)> const& a) { return os::cast<float>(a); }
#else
auto f(os::tensor<double, I, os::partial(X)> const& a) { return os::cast<float>(os::all_reduce<X>(a)); }
#endif
