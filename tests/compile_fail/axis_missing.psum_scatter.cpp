// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a block is to be divided along an axis that it lacks
// error: tensor: the axis asked for is an axis of the tensor
// error: axis_missing<J_axis, sharding<I_axis, varying<X_mesh>>>
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I, os::partial(X)> const& a) {
  return os::shard_map<I/X>([](auto block) { return os::psum_scatter<J/X>(block); }, a);
}
#else
auto f(os::tensor<float, I, os::partial(X)> const& a) {
  return os::shard_map<I/X>([](auto block) { return os::psum_scatter<I/X>(block); }, a);
}
#endif
