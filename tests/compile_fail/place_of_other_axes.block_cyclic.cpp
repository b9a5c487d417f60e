// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: os::block_cyclic gives no block size for an axis that its grid divides
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
void f(os::tensor<double, I / X, J / Y> const& a, view const& v) { os::copy_to_blocks(a, os::block_cyclic(I = 3), v); }
#else
void f(os::tensor<double, I / X, J / Y> const& a, view const& v) {
  os::copy_to_blocks(a, os::block_cyclic(I = 3, J = 2), v);
}
#endif
