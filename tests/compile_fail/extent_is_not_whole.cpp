// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: an axis is declared with a fraction as its extent
// error: axis: an extent is a whole number or an estimate of it; write OSTRAKA_AXIS(I, 512) or OSTRAKA_AXIS(I, os::about(512))
// error: extent_is_not_whole<double>
#include <ostraka/plan.hpp>
namespace os = ostraka;

OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
OSTRAKA_AXIS(I, 2.5);
using A = os::sharding_of<I / X>;
#else
OSTRAKA_AXIS(I, 2);
using A = os::sharding_of<I / X>;
#endif
