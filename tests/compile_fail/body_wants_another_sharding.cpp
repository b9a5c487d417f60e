// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a body is handed a tensor under another sharding than os::in names
// error: shard_map: a body takes a tensor only under the sharding that os::in names, order of mesh axes included, because anything else would move it
// error: body_wants_another_sharding<sharding<I_axis, over<J_axis, X_mesh>>, sharding<over<I_axis, X_mesh>, J_axis>, 
#include <ostraka/local_view.hpp>
#include <ostraka/moves/reshard.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I, J/X> const& a) {
  return os::shard_map<I/X, J>([](auto block) { return block; }, os::in<I/X, J>(a));
}
#else
auto f(os::tensor<float, I, J/X> const& a) {
  return os::shard_map<I/X, J>([](auto block) { return block; }, os::in<I/X, J>(os::reshard<I/X, J>(a)));
}
#endif
