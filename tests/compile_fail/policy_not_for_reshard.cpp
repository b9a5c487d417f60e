// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a reshard is given a policy for products
// error: reshard: one tensor is moved by the cheapest plan, and the policies for that are os::no_communication, os::at_most<bytes> and os::within(bytes); drop the policy, or use the verb of that move (os::all_gather, os::all_reduce, ...)
// error: policy_not_for_reshard<policy<
#include <ostraka/moves/reshard.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I, 8);
OSTRAKA_AXIS(J, 16);
OSTRAKA_AXIS(K, 4);
OSTRAKA_MESH_AXIS(X, 2);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I, J / X> const& a) { return os::reshard<I, J>(a, os::gather_left); }
#else
auto f(os::tensor<float, I, J / X> const& a) { return os::reshard<I, J>(a); }
#endif
