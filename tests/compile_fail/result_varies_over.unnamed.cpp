// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a result is summed over one of two mesh axes
// error: shard_map: a result that does not name a manual mesh axis is the same along it, and this block varies
// error: result_varies_over<X_mesh, sharding<I_axis, varying<X_mesh>>>
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I, os::partial(X, Y)> const& a) {
  return os::shard_map<I>([](auto block) { return os::psum<Y>(block); }, a);
}
#else
auto f(os::tensor<float, I, os::partial(X, Y)> const& a) {
  return os::shard_map<I>([](auto block) { return os::psum<X, Y>(block); }, a);
}
#endif
