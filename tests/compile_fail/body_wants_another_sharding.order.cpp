// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: its mesh axes are in another order
// error: shard_map: a body takes a tensor only under the sharding that os::in names, order of mesh axes included, because anything else would move it
// error: body_wants_another_sharding<sharding<over<I_axis, X_mesh, Y_mesh>>, sharding<over<I_axis, Y_mesh, X_mesh>>, 
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X/Y> const& a) {
  return os::shard_map<I/Y/X>([](auto block) { return block; }, os::in<I/Y/X>(a));
}
#else
auto f(os::tensor<float, I/X/Y> const& a) {
  return os::shard_map<I/X/Y>([](auto block) { return block; }, os::in<I/X/Y>(a));
}
#endif
