// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the same in os::all_to_all
// error: collective: an untiled result stacks blocks along a new axis
// error: untiled_axis_already_exists<I_axis, sharding<I_axis, J_axis, varying<X_mesh>>>
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(N);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X, J> const& a) {
  return os::shard_map<I/X, J>([](auto block) { return os::all_to_all<I/X, J/X>(block, os::untiled); }, a);
}
#else
auto f(os::tensor<float, I/X, J> const& a) {
  return os::shard_map<N, I/X>([](auto block) { return os::all_to_all<N/X, J/X>(block, os::untiled); }, a);
}
#endif
