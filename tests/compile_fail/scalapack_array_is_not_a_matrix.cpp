// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a descriptor of ScaLAPACK is asked for of a tensor of one axis
// error: scalapack_array_of: ScaLAPACK's array holds a matrix of two dimensions, and after the extents come an os::block_cyclic and a BLACS context, an int
// error: scalapack_array_is_not_a_matrix<
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
auto f(mesh const& m) { return os::scalapack_array_of<I / X>(m, I = 8, os::block_cyclic(I = 3), 0); }
#else
auto f(mesh const& m) { return os::scalapack_array_of<I / X, J>(m, I = 8, J = 4, os::block_cyclic(I = 3), 0); }
#endif
