// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: an axis is said to be about as large as nothing
// error: axis: an extent is not negative,
// error: negative_extent<0>
#include <ostraka/plan.hpp>
namespace os = ostraka;

OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
OSTRAKA_AXIS(I, os::about(0));
using A = os::sharding_of<I / X>;
#else
OSTRAKA_AXIS(I, os::about(512));
using A = os::sharding_of<I / X>;
#endif
