// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the tensors of one operation name more than seven mesh axes
// error: operation: all tensors of one operation together name at most seven mesh axes; reshard some of them first
// error: too_many_mesh_axes<8>
#include <ostraka/plan.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(R);
OSTRAKA_MESH_AXIS(S);
OSTRAKA_MESH_AXIS(T);
OSTRAKA_MESH_AXIS(U);
OSTRAKA_MESH_AXIS(V);
OSTRAKA_MESH_AXIS(W);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

using left = os::sharding_of<I / R / S / T / U, J>;
#ifdef SHOULD_FAIL
constexpr auto plan =
    os::plan_of<os::dims<I / R / S / T / U, K / V / W / X / Y>, left, os::sharding_of<J, K / V / W / X / Y>>;
#else
constexpr auto plan = os::plan_of<os::dims<I / S, K / V>, os::sharding_of<I / S, J>, os::sharding_of<J, K / V>>;
#endif
