// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a box begins along an axis that the tensor does not have
// error: copy_from_blocks, copy_to_blocks, plan_blocks: os::at and os::block_cyclic name axes of the tensor, and os::block_cyclic each one that its grid divides;
// error: place_of_other_axes<
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
  return os::copy_from_blocks<double, I / X, J>(m, I = 8, J = 4, os::at(K = 3), v);
}
#else
auto f(mesh const& m, view const& v) {
  return os::copy_from_blocks<double, I / X, J>(m, I = 8, J = 4, os::at(I = 3), v);
}
#endif
