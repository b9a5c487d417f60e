// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: an axis is declared with a negative extent, or a mesh axis with no device
// error: axis: an extent is not negative, and a mesh axis has at least one device; leave out an extent that is known only when the program runs
// error: negative_extent<0>
#include <ostraka/plan.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);

#ifdef SHOULD_FAIL
OSTRAKA_MESH_AXIS(X, 0);
using A = os::sharding_of<I / X>;
#else
OSTRAKA_MESH_AXIS(X);
using A = os::sharding_of<I / X>;
#endif
