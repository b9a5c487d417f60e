// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the same, begun and waited for
// error: all_to_all: both dimensions name the same mesh axes in the same order
// error: all_to_all_along_two_groups<over<I_axis, X_mesh>, over<J_axis, Y_mesh>>
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X, J/Y> const& a) {
  return os::shard_map<I, J/X/Y>([](auto block) { return os::start_all_to_all<I/X, J/Y>(block).wait(); }, a);
}
#else
auto f(os::tensor<float, I/X, J/Y> const& a) {
  return os::shard_map<I, J/Y/X>([](auto block) { return os::start_all_to_all<I/X, J/X>(block).wait(); }, a);
}
#endif
