// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a body captures a tensor that is divided where its blocks vary
// error: shard_map: a tensor that is divided over a mesh axis, or partial, does not meet a block that varies along it, because its own block is hidden
// error: divided_tensor_meets_block<X_mesh, sharding<J_axis, over<K_axis, X_mesh>>, sharding<I_axis, J_axis, varying<X_mesh>>>
#include <ostraka/algebra/einsum.hpp>
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X, J> const& a, os::tensor<float, J, K/X> const& b) {
  return os::shard_map<I/X, K>([&](auto block) { return os::einsum<I, K>(block, b); }, a);
}
#else
auto f(os::tensor<float, I/X, J> const& a, os::tensor<float, J, K/X> const& b) {
  return os::shard_map<I / X, K>(
      [&](auto block, auto right) { return os::einsum<I, K>(block, os::all_gather<K / X>(right)); }, a, b);
}
#endif
