// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a block leaves with its axes in another order
// error: shard_map: a result has the axes that are named for it, in that order
// error: result_has_other_axes<sharding<J_axis, I_axis, varying<X_mesh>>, sharding<over<I_axis, X_mesh>, J_axis>>
#include <ostraka/algebra/einsum.hpp>
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X, J> const& a) {
  return os::shard_map<I/X, J>([](auto block) { return os::einsum<J, I>(block); }, a);
}
#else
auto f(os::tensor<float, I/X, J> const& a) {
  return os::shard_map<J, I/X>([](auto block) { return os::einsum<J, I>(block); }, a);
}
#endif
