// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a block is compared with its replicas
// error: shard_map: the operation speaks for all devices, and a block differs along this mesh axis
// error: block_is_not_a_tensor<X_mesh, operation::check_replicas>
#include <ostraka/local_view.hpp>
#include <ostraka/seeing/check_replicas.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X> const& a) {
  return os::shard_map<I/X>([](auto block) {
    os::check_replicas(block);
    return block;
  }, a);
}
#else
auto f(os::tensor<float, I/X> const& a) {
  return os::shard_map<I/X>([](auto block) {
    os::check_replicas(os::psum<X>(block));
    return block;
  }, a);
}
#endif
