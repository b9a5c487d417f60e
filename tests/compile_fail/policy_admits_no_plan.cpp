// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a policy rules out every plan that reaches the named result
// error: policy: no plan reaches the named result under the given policy; drop the policy, or name a result that it can reach (os::describe(os::plan<I, K>(A, B)) shows what the cheapest plan moves)
// error: policy_admits_no_plan<policy<planner::admit::no_communication>, sharding<I_axis, over<J_axis, X_mesh>>, sharding<over<J_axis, X_mesh>, K_axis>>
#include <ostraka/algebra/einsum.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I, J / X> const& a, os::tensor<float, J / X, K> const& b) {
  return os::einsum<I, K>(a, b, os::no_communication);
}
#else
auto f(os::tensor<float, I, J / X> const& a, os::tensor<float, J / X, K> const& b) {
  return os::einsum<I, K, os::partial(X)>(a, b, os::no_communication);
}
#endif
