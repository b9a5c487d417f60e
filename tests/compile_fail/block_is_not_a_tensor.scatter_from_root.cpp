// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a block is to be scattered from one process
// error: shard_map: the operation speaks for all devices, and a block differs along this mesh axis
// error: block_is_not_a_tensor<X_mesh, operation::scatter_from_root>
#include <ostraka/arrays/scatter_from_root.hpp>
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::mesh<X_mesh> const& m, std::vector<float> const& array) {
  return os::scatter_from_root<float, I, os::varying(X)>(m, I = 8, array);
}
#else
auto f(os::mesh<X_mesh> const& m, std::vector<float> const& array) {
  return os::scatter_from_root<float, I/X>(m, I = 8, array);
}
#endif
