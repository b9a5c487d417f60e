// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: os::copy_to_blocks is given an array without a place
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
void f(os::tensor<double, I / X, J> const& a, view const& v) { os::copy_to_blocks(a, v); }
#else
void f(os::tensor<double, I / X, J> const& a, view const& v) { os::copy_to_blocks(a, os::at(I = 3), v); }
#endif
