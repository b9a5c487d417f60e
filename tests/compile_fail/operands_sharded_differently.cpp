// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: tensors that are divided differently are concatenated
// error: operation: the operands have the same axes in one order, divided alike
// error: operands_sharded_differently<sharding<over<I_axis, X_mesh>, J_axis>, sharding<I_axis, over<J_axis, X_mesh>>, 
#include <ostraka/moves/reshard.hpp>
#include <ostraka/operations/shapes/concatenate.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X, J> const& a, os::tensor<float, I, J/X> const& b) { return os::concatenate<I/X>(a, b); }
#else
auto f(os::tensor<float, I/X, J> const& a, os::tensor<float, I, J/X> const& b) {
  return os::concatenate<I/X>(a, os::reshard<I/X, J>(b));
}
#endif
