// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: blocks are gathered to one device and no mesh axis is named
// error: verb: os::slice, os::reduce_scatter, os::all_to_all and the like take an axis and the mesh axes that divide it
// error: not_a_divided_axis<I_axis>
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X, J/Y> const& a) {
  return os::shard_map<I/X, J/Y>([](auto block) { return os::gather_to<I>(block, 0); }, a);
}
#else
auto f(os::tensor<float, I/X, J/Y> const& a) {
  return os::shard_map<I/X, J/Y>([](auto block) { return os::gather_to<I/X>(block, 0); }, a);
}
#endif
