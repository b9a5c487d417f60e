// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a block is a view that neither the tensor nor the program keeps
// error: from_local: the tensor uses the elements where they are, and these would be gone at the end of the statement; give the array a name, and let it outlive the tensor
// error: block_is_temporary<Kokkos::View<float
#include <ostraka/arrays/from_local.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::mesh<X_mesh> const& mesh) {
  return os::from_local<float, I / X, J>(mesh, I = 1, J = 8, Kokkos::View<float**, Kokkos::LayoutLeft>("block", 1, 8));
}
#else
auto f(os::mesh<X_mesh> const& mesh) {
  return os::from_local<float, I / X, J>(mesh, I = 1, J = 8, Kokkos::View<float**, Kokkos::LayoutRight>("block", 1, 8));
}
#endif
