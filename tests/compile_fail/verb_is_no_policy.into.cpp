// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: an accumulation is given a verb as its policy
// error: policy: a verb such as os::all_gather<X> moves one tensor, and is not a policy for an operation on others
// error: verb_is_no_policy<ostraka::operation::all_reduce<X_mesh>>
#include <ostraka/algebra/einsum_into.hpp>
#include <ostraka/moves/all_reduce.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
void f(os::tensor<float, I, K> const& c, os::tensor<float, I, J / X> const& a, os::tensor<float, J / X, K> const& b) {
  os::einsum_into(c, a, b, os::all_reduce<X>);
}
#else
void f(os::tensor<float, I, K> const& c, os::tensor<float, I, J / X> const& a, os::tensor<float, J / X, K> const& b) {
  os::einsum_into(c, a, b, os::reduce_result);
}
#endif
