// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a result has a manual mesh axis after another
// error: shard_map: the manual mesh axes of an axis are its major ones, because blocks of I/X/Y along Y alone are not a block of I
// error: manual_axis_is_minor<I_axis, X_mesh>
#include <ostraka/local_view.hpp>
#include <ostraka/moves/reshard.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X, J/Y> const& a) {
  return os::shard_map<os::manual(X), I/Y/X, J>([](auto block) { return os::reshard<I/Y, J>(block); }, a);
}
#else
auto f(os::tensor<float, I/X, J/Y> const& a) {
  return os::shard_map<os::manual(X), I/X/Y, J>([](auto block) { return os::reshard<I/Y, J>(block); }, a);
}
#endif
