// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a block is summed over the same mesh axis twice
// error: reduction: blocks are combined over mesh axes along which they vary, and along this one all devices have the same
// error: reduction_of_invariant_block<X_mesh, sharding<I_axis>>
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X> const& a) {
  return os::shard_map<I>([](auto block) { return os::psum<X>(os::psum<X>(block)); }, a);
}
#else
auto f(os::tensor<float, I/X> const& a) {
  return os::shard_map<I>([](auto block) { return os::psum<X>(block); }, a);
}
#endif
