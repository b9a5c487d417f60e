// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a block that varies is handed to a function that takes one that does not
// error: assignment: a block that varies along a mesh axis is not assigned to one that does not
// error: loop_changes_variance<X_mesh, sharding<I_axis, varying<X_mesh>>, sharding<I_axis>>
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X> const& a, float (*norm)(os::tensor<float, I>)) {
  return os::shard_map<I/X>([&](auto block) {
    norm(block);
    return block;
  }, a);
}
#else
auto f(os::tensor<float, I/X> const& a, float (*norm)(os::tensor<float, I, os::varying(X)>)) {
  return os::shard_map<I/X>([&](auto block) {
    norm(block);
    return block;
  }, a);
}
#endif
