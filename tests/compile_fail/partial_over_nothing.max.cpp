// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a partial maximum that names no mesh axis
// error: partial: a partial tensor names the mesh axes that hold its
// error: partial_over_nothing<>
#include <ostraka/types/shardings/sharding.hpp>
namespace os = ostraka;

OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
constexpr auto largest = os::partial_max();
#else
constexpr auto largest = os::partial_max(X);
#endif
