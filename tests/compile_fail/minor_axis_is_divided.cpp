// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: two axes are merged of which the minor one is divided
// error: merge: only the major of two axes is divided
// error: minor_axis_is_divided<D_axis, sharding<H_axis, over<D_axis, X_mesh>>>
#include <ostraka/operations/shapes/merge.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(HD);
OSTRAKA_AXIS(H);
OSTRAKA_AXIS(D);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, H, D/X> const& a) { return os::merge<H, D, HD>(a); }
#else
auto f(os::tensor<float, H/X, D> const& a) { return os::merge<H, D, HD>(a); }
#endif
