// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the same in os::add, of a partial tensor
// error: shard_map: a tensor that is divided over a mesh axis, or partial, does not meet a block that varies along it, because its own block is hidden
// error: divided_tensor_meets_block<X_mesh, sharding<I_axis, partial_sum<X_mesh>>, sharding<I_axis, varying<X_mesh>>>
#include <ostraka/elements/arithmetic.hpp>
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X> const& a, os::tensor<float, I, os::partial(X)> const& b) {
  return os::shard_map<I/X>([&](auto block) { return os::add(b, block); }, a);
}
#else
auto f(os::tensor<float, I/X> const& a, os::tensor<float, I, os::partial(X)> const& b) {
  return os::shard_map<I/X>([&](auto block, auto part) { return os::add(part, block); }, a, b);
}
#endif
