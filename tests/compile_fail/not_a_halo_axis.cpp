// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a mesh axis, or an axis that is padded already, is to be padded
// error: halo: an axis of a tensor is padded, and only once; write os::halo<I, 1>, and the mesh axes after it, as in os::halo<I, 1>/X
// error: not_a_halo_axis<
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

#ifdef SHOULD_FAIL
using A = os::tensor<float, os::halo<X, 1>, J, os::varying(X)>;
A f();
#else
using A = os::tensor<float, os::halo<I, 1>, J, os::varying(X)>;
A f();
#endif
