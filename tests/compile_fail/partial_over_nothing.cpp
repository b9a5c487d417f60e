// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: os::partial is given no mesh axis
// error: partial: a partial tensor names the mesh axes that hold its summands; write os::partial(X), or drop it
// error: partial_over_nothing<>
#include <ostraka/plan.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
using A = os::sharding_of<I, os::partial()>;
#else
using A = os::sharding_of<I, os::partial(X)>;
#endif
