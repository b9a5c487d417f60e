// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a broadcast divides an axis that the tensor has
// error: broadcast, stack: the tensor's axes are divided in the result as in the tensor, and the result is partial where the tensor is
// error: broadcast_sharding_mismatch<sharding<I_axis>, sharding<B_axis, over<I_axis, X_mesh>>>
#include <ostraka/operations/shapes/broadcast.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(B);
OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I> const& a) { return os::broadcast<B, I/X>(a, B = 8); }
#else
auto f(os::tensor<float, I> const& a) { return os::broadcast<B/X, I>(a, B = 8); }
#endif
