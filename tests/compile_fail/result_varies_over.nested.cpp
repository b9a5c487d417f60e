// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: an inner body's result varies
// error: shard_map: a result that does not name a manual mesh axis is the same along it, and this block varies
// error: result_varies_over<Y_mesh, sharding<I_axis, J_axis, varying<X_mesh, Y_mesh>>>
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X, J/Y> const& a) {
  return os::shard_map<os::manual(X), I/X, J>(
      [](auto outer) { return os::shard_map<os::manual(Y), I, J>([](auto inner) { return inner; }, outer); }, a);
}
#else
auto f(os::tensor<float, I/X, J/Y> const& a) {
  return os::shard_map<os::manual(X), I/X, J>(
      [](auto outer) {
        return os::shard_map<os::manual(Y), I, J>([](auto inner) { return os::all_gather<J/Y>(inner); }, outer);
      },
      a);
}
#endif
