// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: strided memory stands at a place without its extents
// error: copy_from_blocks, copy_to_blocks, plan_blocks: os::strided memory at os::at has the extents of an os::sizes that stands before it and names each axis,
// error: sizes_of_strided_memory<
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
auto f(mesh const& m, double* p) {
  return os::copy_from_blocks<double, I / X, J>(m, I = 8, J = 4, os::at(I = 3), os::strided(p, I = 1, J = 2));
}
#else
auto f(mesh const& m, double* p) {
  return os::copy_from_blocks<double, I / X, J>(m, I = 8, J = 4, os::at(I = 3), os::sizes(I = 2, J = 4),
                                                os::strided(p, I = 1, J = 2));
}
#endif
