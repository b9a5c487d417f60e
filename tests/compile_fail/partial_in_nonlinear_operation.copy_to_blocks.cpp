// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: os::copy_to_blocks is given a partial tensor
// error: partial: the operation needs values, and a partial tensor holds parts of them (for summands, f(a) + f(b) is not f(a + b));
// error: partial_in_nonlinear_operation<
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
void f(os::tensor<double, I, J, os::partial(X)> const& a, view const& v) { os::copy_to_blocks(a, os::at(I = 3), v); }
#else
void f(os::tensor<double, I / X, J> const& a, view const& v) { os::copy_to_blocks(a, os::at(I = 3), v); }
#endif
