// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: os::he_normal, whose variance depends only on the axes that are summed, is given the others
// error: operation: it does not read this option, which would silently be ignored; docs/operations.md says which ones it reads
// error: not_an_option<fan_out<F_axis>,
#include <ostraka/operations.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(D);
OSTRAKA_AXIS(F);

#ifdef SHOULD_FAIL
auto f(os::mesh<> const& mesh) {
  return os::he_normal<float, D, F>(mesh, D = 3, F = 4, os::seed(1), os::fan_in(D), os::fan_out(F));
}
#else
auto f(os::mesh<> const& mesh) {
  return os::glorot_normal<float, D, F>(mesh, D = 3, F = 4, os::seed(1), os::fan_in(D), os::fan_out(F));
}
#endif
