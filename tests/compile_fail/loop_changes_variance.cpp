// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a variable of a loop does not vary, and what it becomes does
// error: assignment: a block that varies along a mesh axis is not assigned to one that does not
// error: loop_changes_variance<X_mesh, sharding<I_axis, varying<X_mesh>>, sharding<I_axis>>
#include <ostraka/elements/arithmetic.hpp>
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X> const& a, os::tensor<float, I> const& start) {
  return os::shard_map<I/X>([&](auto block) {
    auto sum = start;
    for (int k = 0; k < 3; ++k) sum = os::add(sum, block);
    return sum;
  }, a);
}
#else
auto f(os::tensor<float, I/X> const& a, os::tensor<float, I> const& start) {
  return os::shard_map<I/X>([&](auto block) {
    auto sum = os::pvary<X>(start);
    for (int k = 0; k < 3; ++k) sum = os::add(sum, block);
    return sum;
  }, a);
}
#endif
