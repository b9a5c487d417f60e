// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: what varies is written to what does not
// error: shard_map: the target varies along the mesh axes along which the operands do
// error: target_does_not_vary<X_mesh, sharding<I_axis>>
#include <ostraka/algebra/einsum_into.hpp>
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X, J> const& a, os::tensor<float, J> const& b, os::tensor<float, I> const& c) {
  return os::shard_map<I/X, J>([&](auto block) { os::einsum_into(c, block, b); return block; }, a);
}
#else
auto f(os::tensor<float, I/X, J> const& a, os::tensor<float, J> const& b, os::tensor<float, I/X> const& c) {
  return os::shard_map<I/X>([&](auto block, auto out) { os::einsum_into(out, block, b); return out; }, a, c);
}
#endif
