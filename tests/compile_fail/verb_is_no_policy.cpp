// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: an einsum is given a verb as its policy
// error: policy: a verb such as os::all_gather<X> moves one tensor, and is not a policy for an operation on others; apply it to its tensor, as in os::einsum<I, K>(os::all_gather<X>(A), B), or give a policy, such as os::gather_left or os::reduce_result
// error: verb_is_no_policy<ostraka::operation::all_gather<X_mesh>>
#include <ostraka/algebra/einsum.hpp>
#include <ostraka/moves/all_gather.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I, J / X> const& a, os::tensor<float, J / X, K> const& b) {
  return os::einsum<I, K>(a, b, os::all_gather<X>);
}
#else
auto f(os::tensor<float, I, J / X> const& a, os::tensor<float, J / X, K> const& b) {
  return os::einsum<I, K>(os::all_gather<X>(a), os::all_gather<X>(b));
}
#endif
