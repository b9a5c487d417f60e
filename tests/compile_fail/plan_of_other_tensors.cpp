// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a plan of copies is given a tensor of another sharding
// error: blocks_plan: a plan copies tensors of the element type and sharding that it was made for;
// error: plan_of_other_tensors<
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
void f(os::blocks_plan<os::tensor<double, I / X, J>>& plan, os::tensor<double, I, J / X> const& a, view const& v) {
  plan.copy_to(a, v);
}
#else
void f(os::blocks_plan<os::tensor<double, I / X, J>>& plan, os::tensor<double, I / X, J> const& a, view const& v) {
  plan.copy_to(a, v);
}
#endif
