// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the rules divide two axes of one tensor over the same mesh axis
// error: sharding: a mesh axis is used by a tensor at most once, to divide one axis or to hold partial sums; drop one of the two uses or use another mesh axis
// error: mesh_axis_used_twice<Y_mesh, embed_axis, hidden_axis>
#include <ostraka/tensors/rules.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(batch);
OSTRAKA_AXIS(embed);
OSTRAKA_AXIS(hidden);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

#ifdef SHOULD_FAIL
constexpr os::rules<batch / X, embed / Y, hidden / Y> R;
#else
constexpr os::rules<batch / X, embed / X, hidden / Y> R;
#endif

os::tensor_under<R, float, embed, hidden> A;
