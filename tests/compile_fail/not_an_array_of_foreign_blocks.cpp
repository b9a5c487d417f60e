// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the view of a box has elements of another type
// error: copy_from_blocks, copy_to_blocks, plan_blocks: a device's array is a Kokkos::View or an mdspan of the tensor's element type with a dimension for each axis, os::strided(pointer, I = 1, J = 8), or, with one axis, a std::span or std::vector
// error: not_an_array_of_foreign_blocks<
#include <ostraka/foreign_blocks.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);
using mesh = os::mesh<X_mesh, Y_mesh>;
using view = Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace>;

#ifdef SHOULD_FAIL
auto f(mesh const& m, view const& v) {
  return os::copy_from_blocks<float, I / X, J>(m, I = 8, J = 4, os::at(I = 3), v);
}
#else
auto f(mesh const& m, view const& v) {
  return os::copy_from_blocks<double, I / X, J>(m, I = 8, J = 4, os::at(I = 3), v);
}
#endif
