// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a halo of no width is asked for
// error: halo: a halo is at least one index wide; for no halo name the axis alone
// error: halo_without_width<
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

#ifdef SHOULD_FAIL
using A = os::tensor<float, os::halo<I, 0>, J, os::varying(X)>;
A f();
#else
using A = os::tensor<float, os::halo<I, 1>, J, os::varying(X)>;
A f();
#endif
