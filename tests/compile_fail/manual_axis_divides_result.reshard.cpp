// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a block is resharded over a manual mesh axis
// error: shard_map: inside a body a result is each device's own, so manual mesh axes do not divide it
// error: manual_axis_divides_result<X_mesh, sharding<I_axis, over<J_axis, X_mesh>, varying<X_mesh>>>
#include <ostraka/local_view.hpp>
#include <ostraka/moves/reshard.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X, J> const& a) {
  return os::shard_map<I, J/X>([](auto block) { return os::reshard<I, J/X>(block); }, a);
}
#else
auto f(os::tensor<float, I/X, J> const& a) {
  return os::shard_map<I, J/X>([](auto block) { return os::all_to_all<I/X, J/X>(block); }, a);
}
#endif
