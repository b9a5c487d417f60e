// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a halo is wider than its axis, whose extent is known while compiling
// error: halo: a halo is at most as wide as its axis, beyond which there are no neighbours
// error: halo_wider_than_the_axis<
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I, 4);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

#ifdef SHOULD_FAIL
using A = os::tensor<float, os::halo<I, 5>, J, os::varying(X)>;
A f();
#else
using A = os::tensor<float, os::halo<I, 4>, J, os::varying(X)>;
A f();
#endif
