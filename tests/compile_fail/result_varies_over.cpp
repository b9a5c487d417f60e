// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a block that differs from device to device leaves as if it did not
// error: shard_map: a result that does not name a manual mesh axis is the same along it, and this block varies
// error: result_varies_over<X_mesh, sharding<I_axis, J_axis, varying<X_mesh>>>
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X, J> const& a) {
  return os::shard_map<I, J>([](auto block) { return block; }, a);
}
#else
auto f(os::tensor<float, I/X, J> const& a) {
  return os::shard_map<I/X, J>([](auto block) { return block; }, a);
}
#endif
