// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: what is the same on all devices leaves as their summands
// error: shard_map: a result that is partial over a mesh axis is made of blocks that differ along it, because it would otherwise be counted once per device
// error: partial_result_does_not_vary<X_mesh, partial_sum<X_mesh>>
#include <ostraka/algebra/reductions.hpp>
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X, J> const& a) {
  return os::shard_map<J, os::partial(X)>([](auto block) { return os::psum<X>(os::sum<J>(block)); }, a);
}
#else
auto f(os::tensor<float, I/X, J> const& a) {
  return os::shard_map<J, os::partial(X)>([](auto block) { return os::sum<J>(block); }, a);
}
#endif
