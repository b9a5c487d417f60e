// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: partial maxima of integers are negated, of which the smallest has no negative
// error: partial: the operation needs values, and a partial tensor holds parts of them (for summands, f(a) + f(b) is not f(a + b));
// error: partial_in_nonlinear_operation<X_mesh, operation::negate>
#include <ostraka/elements/arithmetic.hpp>
#include <ostraka/elements/cast.hpp>
#include <ostraka/moves/all_reduce.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<std::int32_t, I, os::partial_max(X)> const& a) { return os::negate(a); }
#else
auto f(os::tensor<std::int32_t, I, os::partial_max(X)> const& a) { return os::negate(os::all_reduce<X>(a)); }
#endif
