// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a verb of tensors is asked to sum blocks
// error: shard_map: the operation speaks for all devices, and a block differs along this mesh axis
// error: block_is_not_a_tensor<X_mesh, operation::all_reduce<X_mesh>>
#include <ostraka/local_view.hpp>
#include <ostraka/moves/all_reduce.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X> const& a) {
  return os::shard_map<I>([](auto block) { return os::all_reduce<X>(block); }, a);
}
#else
auto f(os::tensor<float, I/X> const& a) {
  return os::shard_map<I>([](auto block) { return os::psum<X>(block); }, a);
}
#endif
