// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: an axis has a negative extent
// error: axis: an extent is not negative,
// error: negative_extent<-8>
#include <ostraka/plan.hpp>
namespace os = ostraka;

OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
OSTRAKA_AXIS(I, -8);
using A = os::sharding_of<I / X>;
#else
OSTRAKA_AXIS(I, 8);
using A = os::sharding_of<I / X>;
#endif
