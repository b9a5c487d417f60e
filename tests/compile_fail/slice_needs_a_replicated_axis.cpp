// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the tensor uses the mesh axis already
// error: slice: the mesh axis is not used by the tensor yet; use os::reduce_scatter where it is partial, os::all_to_all or os::reshard where it divides an axis
// error: slice_needs_a_replicated_axis<X_mesh, sharding<I_axis, over<J_axis, X_mesh>>>
#include <ostraka/moves/slice.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I, J / X> const& a) { return os::slice<I / X>(a); }
#else
auto f(os::tensor<float, I, J / X> const& a) { return os::slice<I / Y>(a); }
#endif
