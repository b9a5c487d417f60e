// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a plan is asked for under a policy that no plan obeys
// error: policy: no plan reaches the named result under the given policy;
// error: policy_admits_no_plan<policy<planner::admit::gather_left>, sharding<I_axis, J_axis>, sharding<J_axis, over<K_axis, X_mesh>>>
#include <ostraka/plan.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
constexpr auto plan = os::plan_of<os::dims<I, K>, os::sharding_of<I, J>, os::sharding_of<J, K / X>,
                                  std::remove_cv_t<decltype(os::gather_left)>>;
#else
constexpr auto plan = os::plan_of<os::dims<I, K>, os::sharding_of<I, J>, os::sharding_of<J, K / X>,
                                  std::remove_cv_t<decltype(os::gather_right)>>;
#endif
