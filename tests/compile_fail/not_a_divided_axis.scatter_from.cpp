// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the same of a block that is scattered
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
  return os::shard_map<I/X, J/Y>([](auto block) { return os::scatter_from<I>(block, 0); }, a);
}
#else
auto f(os::tensor<float, I/X, J/Y> const& a) {
  return os::shard_map<I/X, J/Y>([](auto block) { return os::scatter_from<I/X>(block, 0); }, a);
}
#endif
