// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: an array of another distribution stands without the place where it begins
// error: copy_from_blocks, copy_to_blocks, plan_blocks: the place of an array comes before it, and both come last;
// error: array_without_a_place<
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
auto f(mesh const& m, view const& v) { return os::copy_from_blocks<double, I / X, J>(m, I = 8, J = 4, v); }
#else
auto f(mesh const& m, view const& v) {
  return os::copy_from_blocks<double, I / X, J>(m, I = 8, J = 4, os::at(I = 3), v);
}
#endif
