// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a tensor is summed outside of a body
// error: psum: a block is reduced over mesh axes along which it varies, else the same number would be counted once a device
// error: reduction_of_what_does_not_vary<X_mesh, sharding<over<I_axis, X_mesh>>>
#include <ostraka/shard_map.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X> const& a) { return os::psum<X>(a); }
#else
auto f(os::tensor<float, I/X> const& a) {
  return os::shard_map<I>([](auto block) { return os::psum<X>(block); }, a);
}
#endif
