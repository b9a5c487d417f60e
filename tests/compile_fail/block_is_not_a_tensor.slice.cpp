// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a block is sliced over a manual mesh axis
// error: shard_map: the operation speaks for all devices, and a block differs along this mesh axis
// error: block_is_not_a_tensor<X_mesh, operation::slice<ostraka::over<J_axis, X_mesh>>>
#include <ostraka/local_view.hpp>
#include <ostraka/moves/slice.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X, J> const& a) {
  return os::shard_map<I/X, J>([](auto block) { return os::slice<J/X>(block); }, a);
}
#else
auto f(os::tensor<float, I/X, J> const& a) {
  return os::shard_map<I/X, J>([](auto block) { return block; }, a);
}
#endif
