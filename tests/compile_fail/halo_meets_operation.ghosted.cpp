// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: an array with ghost layers is summed
// error: halo: operations on tensors do not take a padded block, because they would count the elements that it copies from its neighbours again on every device; use os::stencil, or take its own part with os::own(a)
// error: halo_meets_operation<
#include <ostraka/ostraka.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

#ifdef SHOULD_FAIL
auto call(os::ghosted_array<float, os::halo<I, 1>/X, J/Y> const& u) { return os::einsum<J>(u, u); }
#else
auto call(os::ghosted_array<float, os::halo<I, 1>/X, J/Y> const& u) { return os::einsum<J>(os::own(u), os::own(u)); }
#endif
