// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the same of a tensor that is shifted
// error: collective: it takes blocks, and here the mesh axis divides a tensor, or the tensor is partial over it
// error: collective_outside_of_a_body<X_mesh, sharding<over<I_axis, X_mesh>>>
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X> const& a) { return os::shift<X>(a, 1); }
#else
auto f(os::tensor<float, I/X> const& a) {
  return os::shard_map<I/X>([](auto block) { return os::shift<X>(block, 1); }, a);
}
#endif
