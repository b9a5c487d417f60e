// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a block is gathered to one process
// error: shard_map: the operation speaks for all devices, and a block differs along this mesh axis
// error: block_is_not_a_tensor<X_mesh, operation::gather_to_root>
#include <ostraka/arrays/gather_to_root.hpp>
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X> const& a) {
  return os::shard_map<I/X>([](auto block) {
    static_cast<void>(os::gather_to_root(block));
    return block;
  }, a);
}
#else
auto f(os::tensor<float, I/X> const& a) {
  return os::shard_map<I/X>([](auto block) {
    static_cast<void>(os::gather_to_root(os::psum<X>(block)));
    return block;
  }, a);
}
#endif
