// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a reshard is given a verb as its policy
// error: policy: a verb such as os::all_gather<X> moves one tensor, and is not a policy for an operation on others
// error: verb_is_no_policy<ostraka::operation::all_to_all<ostraka::over<I_axis, X_mesh>>>
#include <ostraka/moves/all_to_all.hpp>
#include <ostraka/moves/reshard.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I, J / X> const& a) { return os::reshard<I / X, J>(a, os::all_to_all<I / X>); }
#else
auto f(os::tensor<float, I, J / X> const& a) { return os::all_to_all<I / X>(a); }
#endif
