// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: os::rules has two rules for one axis
// error: rules: an axis has one rule; drop one of the two (an axis over several mesh axes is one rule, batch/X/Y)
// error: rule_given_twice<batch_axis>
#include <ostraka/tensors/rules.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(batch);
OSTRAKA_AXIS(embed);
OSTRAKA_AXIS(hidden);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

#ifdef SHOULD_FAIL
constexpr os::rules<batch / X, hidden / Y, batch / Y> R;
#else
constexpr os::rules<batch / X / Y, hidden / Y> R;
#endif

os::tensor_under<R, float, batch, embed> A;
