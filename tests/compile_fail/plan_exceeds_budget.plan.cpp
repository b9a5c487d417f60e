// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the plan of an operation is asked for with a budget that it exceeds
// error: policy: os::at_most<bytes> is what each device may move at most, and the plan (first number) moves more than the budget (second number);
// error: plan_exceeds_budget<128, 0>
#include <ostraka/plan.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I, 8);
OSTRAKA_AXIS(J, 16);
OSTRAKA_AXIS(K, 4);
OSTRAKA_MESH_AXIS(X, 2);

#ifdef SHOULD_FAIL
constexpr auto plan =
    os::plan_of<os::dims<I, K>, os::sharding_of<I, J / X>, os::sharding_of<J / X, K>, decltype(os::at_most<0>)>;
#else
constexpr auto plan = os::plan_of<os::dims<I, K, os::partial(X)>, os::sharding_of<I, J / X>, os::sharding_of<J / X, K>,
                                  decltype(os::at_most<0>)>;
#endif
