// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: tensors are stacked into a result that lies otherwise than they do
// error: broadcast, stack: the tensor's axes are divided in the result as in the tensor, and the result is partial where the tensor is
// error: broadcast_sharding_mismatch<sharding<over<B_axis, X_mesh>, I_axis>, sharding<B_axis, T_axis, I_axis>>
#include <ostraka/operations/shapes/stack.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(B);
OSTRAKA_AXIS(I);
OSTRAKA_AXIS(T);
OSTRAKA_MESH_AXIS(X);

using rows = os::tensor<float, B/X, I>;
#ifdef SHOULD_FAIL
auto f(rows const& a, rows const& b) { return os::stack<B, T, I>(a, b); }
#else
auto f(rows const& a, rows const& b) { return os::stack<B/X, T, I>(a, b); }
#endif
