// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the major mesh axis of an axis is gathered and a minor one kept
// error: all_gather: a mesh axis is gathered only from the minor end of its axis (Y before X in I/X/Y), because blocks would otherwise change places; gather the minor ones too or use os::reshard
// error: all_gather_not_from_minor_end<X_mesh, sharding<over<I_axis, X_mesh, Y_mesh>>>
#include <ostraka/moves/all_gather.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I / X / Y> const& a) { return os::all_gather<X>(a); }
#else
auto f(os::tensor<float, I / X / Y> const& a) { return os::reshard<I / Y>(a); }
#endif
