// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a block's sum is to be partial over a manual mesh axis
// error: shard_map: inside a body a result is each device's own, so manual mesh axes do not divide it
// error: manual_axis_divides_result<X_mesh, sharding<partial_sum<X_mesh>, varying<X_mesh>>>
#include <ostraka/algebra/reductions.hpp>
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X> const& a) {
  return os::shard_map<os::dims<os::partial(X)>{}>([](auto block) { return os::sum<os::partial(X)>(block); }, a);
}
#else
auto f(os::tensor<float, I/X> const& a) {
  return os::shard_map<os::dims<os::partial(X)>{}>([](auto block) { return os::sum<>(block); }, a);
}
#endif
