// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: they are to be exchanged along one
// error: collective: a block is moved along mesh axes along which it varies
// error: collective_over_unknown_axis<Y_mesh, sharding<I_axis, J_axis, varying<X_mesh>>>
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X, J> const& a) {
  return os::shard_map<I, J/X>([](auto block) { return os::all_to_all<I/Y, J/Y>(block); }, a);
}
#else
auto f(os::tensor<float, I/X, J> const& a) {
  return os::shard_map<I, J/X>([](auto block) { return os::all_to_all<I/X, J/X>(block); }, a);
}
#endif
