// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a tensor is summed outside of a body
// error: collective: it takes blocks, and here the mesh axis divides a tensor, or the tensor is partial over it
// error: collective_outside_of_a_body<X_mesh, sharding<over<I_axis, X_mesh>>>
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X> const& a) { return os::psum<X>(a); }
#else
auto f(os::tensor<float, I/X> const& a) {
  return os::shard_map<I>([](auto block) { return os::psum<X>(block); }, a);
}
#endif
