// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a reshard that may move nothing has to
// error: policy: no plan reaches the named result under the given policy;
// error: policy_admits_no_plan<policy<
#include <ostraka/moves/reshard.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I, 8);
OSTRAKA_AXIS(J, 16);
OSTRAKA_AXIS(K, 4);
OSTRAKA_MESH_AXIS(X, 2);

auto f(os::tensor<float, I, J / X> const& a, os::tensor<float, I, J> const& b) {
#ifdef SHOULD_FAIL
  return os::reshard<I, J>(a, os::no_communication);
#else
  static_cast<void>(a);
  return os::reshard<I, J / X>(b, os::no_communication);
#endif
}
