// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a block leaves whole along a mesh axis over which it is divided in the body
// error: shard_map: a block leaves the body divided over the mesh axes that are not manual as it is inside
// error: result_divided_differently<sharding<I_axis, over<J_axis, Y_mesh>, varying<X_mesh>>, sharding<over<I_axis, X_mesh>, J_axis>>
#include <ostraka/local_view.hpp>
#include <ostraka/moves/reshard.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X, J/Y> const& a) {
  return os::shard_map<os::manual(X), I/X, J>([](auto block) { return block; }, a);
}
#else
auto f(os::tensor<float, I/X, J/Y> const& a) {
  return os::shard_map<os::manual(X), I/X, J>([](auto block) { return os::reshard<I, J>(block); }, a);
}
#endif
