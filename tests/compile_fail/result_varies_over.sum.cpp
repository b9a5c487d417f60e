// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: each device's own sum leaves
// error: shard_map: a result that does not name a manual mesh axis is the same along it, and this block varies
// error: result_varies_over<X_mesh, sharding<varying<X_mesh>>>
#include <ostraka/algebra/reductions.hpp>
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X> const& a) {
  return os::shard_map<os::dims<>{}>([](auto block) { return os::sum<>(block); }, a);
}
#else
auto f(os::tensor<float, I/X> const& a) {
  return os::shard_map<os::dims<>{}>([](auto block) { return os::psum<X>(os::sum<>(block)); }, a);
}
#endif
