// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: an array with ghost layers is adopted where its block begins, along an axis that it does not have
// error: tensor: the axis asked for is an axis of the tensor
// error: axis_missing<K_axis, sharding<over<I_axis, X_mesh>>>
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);

auto f(os::mesh<X_mesh> const& mesh, Kokkos::View<double*> const& view) {
#ifdef SHOULD_FAIL
  return os::from_local<double, os::halo<I, 1>/X>(mesh, I = 8, os::at(K = 1), view);
#else
  return os::from_local<double, os::halo<I, 1>/X>(mesh, I = 8, os::at(I = 1), view);
#endif
}
