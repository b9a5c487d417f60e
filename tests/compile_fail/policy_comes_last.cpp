// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the policy of a reduction stands before the tensor
// error: operation: reductions and reshards take one tensor, followed by at most one policy; write os::sum<I>(A, os::no_communication), and combine several tensors with os::einsum or os::map
// error: policy_comes_last<ostraka::policy<
#include <ostraka/algebra/reductions.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I / X> const& a) { return os::sum<>(os::gather_left, a); }
#else
auto f(os::tensor<float, I / X> const& a) { return os::sum<>(a, os::gather_left); }
#endif
