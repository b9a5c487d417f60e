// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the function of a reduction captures a block, which devices have differently
// error: assignment: a block that varies along a mesh axis is not assigned to one that does not
// error: loop_changes_variance<X_mesh, sharding<I_axis, varying<X_mesh>>, sharding<I_axis>>
#include <ostraka/elements/arithmetic.hpp>
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X> const& a) {
  return os::shard_map<I>([](auto block) {
    return os::preduce<X>([&](auto left, auto right) { return os::add(os::add(left, right), block); }, block);
  }, a);
}
#else
auto f(os::tensor<float, I/X> const& a) {
  return os::shard_map<I>([](auto block) {
    return os::preduce<X>([](auto left, auto right) { return os::add(left, right); }, block);
  }, a);
}
#endif
