// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the view of os::scatter_from_root has fewer dimensions than the tensor has axes
// error: scatter_from_root: the whole array comes last, after the extents: a Kokkos::View or an mdspan of the tensor's element type with a dimension for each axis,
// error: whole_array_comes_last<
#include <ostraka/arrays/scatter_from_root.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::mesh<X_mesh> const& mesh, Kokkos::View<float*> const& whole) {
  return os::scatter_from_root<float, I / X, J>(mesh, I = 8, J = 4, whole);
}
#else
auto f(os::mesh<X_mesh> const& mesh, Kokkos::View<float**> const& whole) {
  return os::scatter_from_root<float, I / X, J>(mesh, I = 8, J = 4, whole);
}
#endif
