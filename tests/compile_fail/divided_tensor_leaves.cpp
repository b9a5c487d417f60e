// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a captured tensor is returned by a body
// error: shard_map: a result is a block of the body, and this tensor is divided over a manual mesh axis or partial
// error: divided_tensor_leaves<X_mesh, sharding<over<I_axis, X_mesh>>>
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X> const& a, os::tensor<float, I/X> const& b) {
  return os::shard_map<I/X>([&](auto) { return b; }, a);
}
#else
auto f(os::tensor<float, I/X> const& a, os::tensor<float, I/X> const& b) {
  return os::shard_map<I/X>([&](auto, auto block) { return block; }, a, b);
}
#endif
