// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a reshard of static sizes moves more than it may
// error: policy: os::at_most<bytes> is what each device may move at most, and the plan (first number) moves more than the budget (second number);
// error: plan_exceeds_budget<256, 200>
#include <ostraka/moves/reshard.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I, 8);
OSTRAKA_AXIS(J, 16);
OSTRAKA_AXIS(K, 4);
OSTRAKA_MESH_AXIS(X, 2);

auto f(os::tensor<float, I, J / X> const& a) {
#ifdef SHOULD_FAIL
  return os::reshard<I, J>(a, os::at_most<200>);
#else
  return os::reshard<I / X, J>(a, os::at_most<200>);  // a quarter is sent on, not a half
#endif
}
