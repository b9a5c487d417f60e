// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a reduction of static sizes moves more than it may
// error: policy: os::at_most<bytes> is what each device may move at most, and the plan (first number) moves more than the budget (second number);
// error: plan_exceeds_budget<64, 8>
#include <ostraka/algebra/reductions.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I, 8);
OSTRAKA_AXIS(J, 16);
OSTRAKA_AXIS(K, 4);
OSTRAKA_MESH_AXIS(X, 2);

auto f(os::tensor<double, I, J / X> const& a) {
#ifdef SHOULD_FAIL
  return os::max<I>(a, os::at_most<8>);
#else
  return os::max<I>(a, os::at_most<64>);
#endif
}
