// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a rule divides an axis by a number
// error: sharding: an axis is divided over mesh axes only; declare the divisor with OSTRAKA_MESH_AXIS
// error: not_a_mesh_axis<batch_axis, int>
#include <ostraka/tensors/rules.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(batch);
OSTRAKA_AXIS(embed);
OSTRAKA_AXIS(hidden);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

#ifdef SHOULD_FAIL
constexpr os::rules<batch / 2, hidden / Y> R;
#else
constexpr os::rules<batch / X, hidden / Y> R;
#endif

os::tensor_under<R, float, batch, hidden> A;
