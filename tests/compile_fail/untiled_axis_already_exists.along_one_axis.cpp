// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the same where the axis is split, too
// error: collective: an untiled result stacks blocks along a new axis
// error: untiled_axis_already_exists<J_axis, sharding<I_axis, J_axis, varying<X_mesh>>>
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(N);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X, J> const& a) {
  return os::shard_map<I/X, J>([](auto block) { return os::all_to_all<J/X, J/X>(block, os::untiled); }, a);
}
#else
auto f(os::tensor<float, I/X, J> const& a) {
  return os::shard_map<N/X, I>([](auto block) { return os::all_to_all<N/X, J/X>(block, os::untiled); }, a);
}
#endif
