// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a partial maximum is multiplied by a number of unknown sign
// error: partial: the operation needs values, and a partial tensor holds parts of them (for summands, f(a) + f(b) is not f(a + b));
// error: partial_in_nonlinear_operation<X_mesh, operation::scale>
#include <ostraka/elements/arithmetic.hpp>
#include <ostraka/elements/cast.hpp>
#include <ostraka/moves/all_reduce.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I, os::partial_max(X)> const& a) { return os::scale(2.f, a); }
#else
auto f(os::tensor<float, I, os::partial_max(X)> const& a) { return os::scale(2.f, os::all_reduce<X>(a)); }
#endif
