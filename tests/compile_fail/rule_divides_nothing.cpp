// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: an entry of os::rules is not a divided axis
// error: rules: a rule is a divided axis (batch/X), and an axis without a rule is not divided; write the rule so, or leave it out
// error: rule_divides_nothing<hidden_axis>
#include <ostraka/tensors/rules.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(batch);
OSTRAKA_AXIS(embed);
OSTRAKA_AXIS(hidden);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

#ifdef SHOULD_FAIL
constexpr os::rules<batch / X, hidden> R;
#else
constexpr os::rules<batch / X> R;
#endif

os::tensor_under<R, float, batch, hidden> A;
