// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the same where they are to be stacked
// error: collective: a block is moved along mesh axes along which it varies
// error: collective_over_unknown_axis<Y_mesh, sharding<I_axis, varying<X_mesh>>>
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(N);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X> const& a) {
  return os::shard_map<N, I/X>([](auto block) { return os::all_gather<N/Y>(block); }, a);
}
#else
auto f(os::tensor<float, I/X> const& a) {
  return os::shard_map<N, I/X>([](auto block) { return os::all_gather<N/Y>(os::pvary<Y>(block)); }, a);
}
#endif
