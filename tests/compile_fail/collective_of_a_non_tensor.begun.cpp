// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a mesh is handed to a collective that is begun
// error: collective: it takes one block of the body, as its first argument
// error: collective_of_a_non_tensor<mesh<X_mesh>>
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X> const& a, os::mesh<X_mesh> const& m) {
  return os::shard_map<I>([&](auto) { return os::start_psum<X>(m).wait(); }, a);
}
#else
auto f(os::tensor<float, I/X> const& a, os::mesh<X_mesh> const&) {
  return os::shard_map<I>([&](auto block) { return os::start_psum<X>(block).wait(); }, a);
}
#endif
