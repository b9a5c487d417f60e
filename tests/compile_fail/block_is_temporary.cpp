// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a block is an array without a name
// error: from_local: the tensor uses the elements where they are, and these would be gone at the end of the statement; give the array a name, and let it outlive the tensor
// error: block_is_temporary<std::vector<float
#include <vector>
#include <ostraka/arrays/from_local.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::mesh<X_mesh> const& mesh, std::vector<float>&) {
  return os::from_local<float, I / X>(mesh, I = 8, std::vector<float>(8));
}
#else
auto f(os::mesh<X_mesh> const& mesh, std::vector<float>& array) {
  return os::from_local<float, I / X>(mesh, I = 8, array);
}
#endif
