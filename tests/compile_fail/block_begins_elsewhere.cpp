// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: os::at is given for the block of a tensor, which has no ghost layers
// error: from_local: a tensor's block begins where the block distribution says, so os::at has no place here
// error: block_begins_elsewhere<
#include <vector>
#include <ostraka/arrays/from_local.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::mesh<X_mesh> const& mesh, std::vector<float>& array) {
  return os::from_local<float, I / X>(mesh, I = 8, os::at(I = 3), array);
}
#else
auto f(os::mesh<X_mesh> const& mesh, std::vector<float>& array) {
  return os::from_local<float, I / X>(mesh, I = 8, array);
}
#endif
