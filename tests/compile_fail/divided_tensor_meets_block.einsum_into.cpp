// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the same in os::einsum_into
// error: shard_map: a tensor that is divided over a mesh axis, or partial, does not meet a block that varies along it, because its own block is hidden
// error: divided_tensor_meets_block<X_mesh, sharding<over<J_axis, X_mesh>>, sharding<I_axis, J_axis, varying<X_mesh>>>
#include <ostraka/algebra/einsum_into.hpp>
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X, J> const& a, os::tensor<float, J/X> const& b, os::tensor<float, I/X> const& c) {
  return os::shard_map<I/X>([&](auto block, auto out) { os::einsum_into(out, block, b); return out; }, a, c);
}
#else
auto f(os::tensor<float, I/X, J> const& a, os::tensor<float, J> const& b, os::tensor<float, I/X> const& c) {
  return os::shard_map<I/X>([&](auto block, auto out) { os::einsum_into(out, block, b); return out; }, a, c);
}
#endif
