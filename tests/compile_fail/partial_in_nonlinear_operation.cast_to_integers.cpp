// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a partial maximum is cast to integers, which have no infinity
// error: partial: the operation needs values, and a partial tensor holds parts of them (for summands, f(a) + f(b) is not f(a + b));
// error: partial_in_nonlinear_operation<X_mesh, operation::cast<int>>
#include <ostraka/elements/arithmetic.hpp>
#include <ostraka/elements/cast.hpp>
#include <ostraka/moves/all_reduce.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I, os::partial_max(X)> const& a) { return os::cast<std::int32_t>(a); }
#else
auto f(os::tensor<float, I, os::partial_max(X)> const& a) { return os::cast<std::int32_t>(os::all_reduce<X>(a)); }
#endif
