// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a divided tensor is written to a block
// error: shard_map: a tensor that is divided over a mesh axis, or partial, does not meet a block that varies along it, because its own block is hidden
// error: divided_tensor_meets_block<X_mesh, sharding<over<I_axis, X_mesh>>, sharding<I_axis, varying<X_mesh>>>
#include <ostraka/local_view.hpp>
#include <ostraka/moves/reshard_into.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X> const& a, os::tensor<float, I/X> const& c) {
  return os::shard_map<I/X>([&](auto out) { os::reshard_into(out, a); return out; }, c);
}
#else
auto f(os::tensor<float, I/X> const& a, os::tensor<float, I/X> const& c) {
  return os::shard_map<I/X>([&](auto block, auto out) { os::reshard_into(out, block); return out; }, a, c);
}
#endif
