// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a block is summed over two mesh axes and varies along one
// error: reduction: blocks are combined over mesh axes along which they vary, and along this one all devices have the same
// error: reduction_of_invariant_block<Y_mesh, sharding<I_axis, varying<X_mesh>>>
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X> const& a) {
  return os::shard_map<I>([](auto block) { return os::psum<X, Y>(block); }, a);
}
#else
auto f(os::tensor<float, I/X> const& a) {
  return os::shard_map<I>([](auto block) { return os::psum<X>(block); }, a);
}
#endif
