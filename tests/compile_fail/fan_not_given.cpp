// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: weights are initialised without saying which axes are summed
// error: weights: their spread depends on how many products are summed; name the axes that are summed, as in os::fan_in(D), and for os::glorot_normal and os::glorot_uniform those that remain, as in os::fan_out(F)
// error: fan_not_given<
#include <ostraka/operations.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(D);
OSTRAKA_AXIS(F);

#ifdef SHOULD_FAIL
auto f(os::mesh<> const& mesh) { return os::glorot_uniform<float, D, F>(mesh, D = 3, F = 4, os::fan_in(D)); }
#else
auto f(os::mesh<> const& mesh) {
  return os::glorot_uniform<float, D, F>(mesh, D = 3, F = 4, os::fan_in(D), os::fan_out(F));
}
#endif
