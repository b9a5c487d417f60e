// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a block is given as a view of other elements
// error: from_local: a block is a Kokkos::View or an mdspan of the tensor's element type, in its memory, with a dimension for each axis, a std::span or std::vector of such elements, or os::strided(pointer, I = 8, J = 1); give one of these, copy from other memory with os::copy_from_local, and convert elements afterwards with os::cast
// error: not_a_block<
#include <ostraka/arrays/from_local.hpp>
#include <ostraka/elements/cast.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::mesh<X_mesh> const& mesh, Kokkos::View<double*> view) {
  return os::from_local<float, I / X>(mesh, I = 8, view);
}
#else
auto f(os::mesh<X_mesh> const& mesh, Kokkos::View<double*> view) {
  return os::cast<float>(os::from_local<double, I / X>(mesh, I = 8, view));
}
#endif
