// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the same in os::reshard_into
// error: shard_map: the target varies along the mesh axes along which the operands do
// error: target_does_not_vary<X_mesh, sharding<I_axis>>
#include <ostraka/local_view.hpp>
#include <ostraka/moves/reshard_into.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X> const& a, os::tensor<float, I> const& c) {
  return os::shard_map<I/X>([&](auto block) { os::reshard_into(c, block); return block; }, a);
}
#else
auto f(os::tensor<float, I/X> const& a, os::tensor<float, I> const& c) {
  return os::shard_map<I/X>([&](auto block) { os::reshard_into(c, os::psum<X>(block)); return block; }, a);
}
#endif
