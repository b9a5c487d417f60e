// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the array of os::scatter_from_root has other elements than the tensor
// error: scatter_from_root: the whole array comes last, after the extents: a Kokkos::View or an mdspan of the tensor's element type with a dimension for each axis, a row-major std::span or std::vector of that type, or os::strided(pointer, I = 4, J = 1); write os::scatter_from_root<float, I/X, J>(mesh, I = 8, J = 4, view)
// error: whole_array_comes_last<
#include <ostraka/arrays/scatter_from_root.hpp>

#include <vector>

namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::mesh<X_mesh> const& mesh, std::vector<double> const& whole) {
  return os::scatter_from_root<float, I / X>(mesh, I = 8, whole);
}
#else
auto f(os::mesh<X_mesh> const& mesh, std::vector<float> const& whole) {
  return os::scatter_from_root<float, I / X>(mesh, I = 8, whole);
}
#endif
