// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: it is partial, and its sum is wanted
// error: shard_map: a body takes a tensor only under the sharding that os::in names, order of mesh axes included, because anything else would move it
// error: body_wants_another_sharding<sharding<I_axis, partial_sum<X_mesh>>, sharding<I_axis>, 
#include <ostraka/local_view.hpp>
#include <ostraka/moves/reshard.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I, os::partial(X)> const& a) {
  return os::shard_map<I>([](auto block) { return block; }, os::in<I>(a));
}
#else
auto f(os::tensor<float, I, os::partial(X)> const& a) {
  return os::shard_map<I>([](auto block) { return block; }, os::in<I>(os::reshard<I>(a)));
}
#endif
