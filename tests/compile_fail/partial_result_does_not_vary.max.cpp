// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the same of maxima, over one of two mesh axes
// error: shard_map: a result that is partial over a mesh axis is made of blocks that differ along it, because it would otherwise be counted once per device
// error: partial_result_does_not_vary<Y_mesh, partial_max<X_mesh, Y_mesh>>
#include <ostraka/algebra/reductions.hpp>
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X, J> const& a) {
  return os::shard_map<os::manual(X, Y), J, os::partial_max(X, Y)>([](auto block) { return os::max<J>(block); }, a);
}
#else
auto f(os::tensor<float, I/X, J> const& a) {
  return os::shard_map<os::manual(X, Y), J, os::partial_max(X)>([](auto block) { return os::max<J>(block); }, a);
}
#endif
