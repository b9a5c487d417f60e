// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: blocks are to be stacked along an axis that they have
// error: collective: an untiled result stacks blocks along a new axis
// error: untiled_axis_already_exists<I_axis, sharding<I_axis, varying<X_mesh>>>
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X> const& a) {
  return os::shard_map<I>([](auto block) { return os::all_gather<I/X>(block, os::untiled); }, a);
}
#else
auto f(os::tensor<float, I/X> const& a) {
  return os::shard_map<I>([](auto block) { return os::all_gather<I/X>(block); }, a);
}
#endif
