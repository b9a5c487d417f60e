// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a reshard is given two tensors
// error: operation: reductions and reshards take one tensor, followed by at most one policy; write os::sum<I>(A, os::no_communication), and combine several tensors with os::einsum or os::map
// error: policy_comes_last<ostraka::basic_tensor<float
#include <ostraka/moves/reshard.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I / X> const& a) { return os::reshard<I>(a, a); }
#else
auto f(os::tensor<float, I / X> const& a) { return os::reshard<I>(a); }
#endif
