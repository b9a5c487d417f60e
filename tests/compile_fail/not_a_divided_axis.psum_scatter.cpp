// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: os::psum_scatter is given mesh axes only
// error: verb: os::slice, os::reduce_scatter, os::all_to_all and the like take an axis and the mesh axes that divide it
// error: not_a_divided_axis<X_mesh>
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I, os::partial(X)> const& a) {
  return os::shard_map<I/X>([](auto block) { return os::psum_scatter<X>(block); }, a);
}
#else
auto f(os::tensor<float, I, os::partial(X)> const& a) {
  return os::shard_map<I/X>([](auto block) { return os::psum_scatter<I/X>(block); }, a);
}
#endif
