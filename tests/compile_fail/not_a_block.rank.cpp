// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a block has fewer dimensions than the tensor has axes
// error: from_local: a block is a Kokkos::View or an mdspan of the tensor's element type, in its memory, with a dimension for each axis,
// error: not_a_block<
#include <ostraka/arrays/from_local.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::mesh<X_mesh> const& mesh, Kokkos::View<float*> view) {
  return os::from_local<float, I / X, J>(mesh, I = 8, J = 4, view);
}
#else
auto f(os::mesh<X_mesh> const& mesh, Kokkos::View<float**> view) {
  return os::from_local<float, I / X, J>(mesh, I = 8, J = 4, view);
}
#endif
