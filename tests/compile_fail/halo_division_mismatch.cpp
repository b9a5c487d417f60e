// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the halo of an array with ghost layers is named without the mesh axis that divides it
// error: exchange_halo_into: the neighbours of an array with ghost layers are along the mesh axes that divide it, and its halos are as wide as it has them; name os::halo<I, 1>/X as for os::from_local
// error: halo_division_mismatch<
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

#ifdef SHOULD_FAIL
void call(os::ghosted_array<float, os::halo<I, 1>/X, J/Y> const& u) { os::exchange_halo_into<os::halo<I, 1>>(u); }
#else
void call(os::ghosted_array<float, os::halo<I, 1>/X, J/Y> const& u) { os::exchange_halo_into<os::halo<I, 1>/X>(u); }
#endif
