// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a sum is given a verb as its policy
// error: policy: a verb such as os::all_gather<X> moves one tensor, and is not a policy for an operation on others
// error: verb_is_no_policy<ostraka::operation::reduce_scatter<ostraka::over<I_axis, X_mesh>>>
#include <ostraka/algebra/reductions.hpp>
#include <ostraka/moves/reduce_scatter.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I, J / X> const& a, os::tensor<float, J / X, K> const& b) {
  return static_cast<void>(b), os::sum<I / X>(a, os::reduce_scatter<I / X>);
}
#else
auto f(os::tensor<float, I, J / X> const& a, os::tensor<float, J / X, K> const& b) {
  return static_cast<void>(b), os::sum<I / X>(a, os::reduce_result);
}
#endif
