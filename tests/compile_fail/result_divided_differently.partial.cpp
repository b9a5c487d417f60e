// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a block leaves as partial over a mesh axis that is not manual, but it is not
// error: shard_map: a block leaves the body divided over the mesh axes that are not manual as it is inside
// error: result_divided_differently<sharding<I_axis, varying<X_mesh>>, sharding<over<I_axis, X_mesh>, partial_sum<Y_mesh>>>
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X> const& a) {
  return os::shard_map<os::manual(X), I/X, os::partial(Y)>([](auto block) { return block; }, a);
}
#else
auto f(os::tensor<float, I/X> const& a) {
  return os::shard_map<os::manual(X), I/X>([](auto block) { return block; }, a);
}
#endif
