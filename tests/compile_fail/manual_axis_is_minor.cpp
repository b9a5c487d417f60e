// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the minor mesh axis of an axis is made manual alone
// error: shard_map: the manual mesh axes of an axis are its major ones, because blocks of I/X/Y along Y alone are not a block of I
// error: manual_axis_is_minor<I_axis, Y_mesh>
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X/Y> const& a) {
  return os::shard_map<os::manual(Y), I/X/Y>([](auto block) { return block; }, a);
}
#else
auto f(os::tensor<float, I/X/Y> const& a) {
  return os::shard_map<os::manual(X), I/X/Y>([](auto block) { return block; }, a);
}
#endif
