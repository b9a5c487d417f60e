// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: rules that are a type have a mesh axis among them
// error: rules: a rule is a divided axis (batch/X), and an axis without a rule is not divided;
// error: rule_divides_nothing<Y_mesh>
#include <ostraka/creation/zeros.hpp>
#include <ostraka/tensors/rules.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(batch);
OSTRAKA_AXIS(embed);
OSTRAKA_AXIS(hidden);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

#ifdef SHOULD_FAIL
using R = os::rules<batch / X, Y>;
#else
using R = os::rules<batch / X / Y>;
#endif

auto f(os::mesh<X_mesh, Y_mesh> const& mesh) {
  return os::zeros<float, os::under<R>(batch, hidden)>(mesh, batch = 8, hidden = 8);
}
