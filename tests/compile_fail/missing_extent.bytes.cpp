// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a plan is asked for its bytes without the size of a mesh axis
// error: sizes: an axis or mesh axis has no static extent and none was given;
// error: missing_extent<X_mesh>
#include <ostraka/plan.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
constexpr auto plan = os::plan_of<os::dims<I>, os::sharding_of<I / X>>;
constexpr auto bytes = plan.bytes(I = 8);
#else
constexpr auto plan = os::plan_of<os::dims<I>, os::sharding_of<I / X>>;
constexpr auto bytes = plan.bytes(I = 8, X = 2);
#endif
