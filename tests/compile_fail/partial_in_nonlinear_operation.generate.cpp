// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a partial tensor is made from values
// error: partial: the operation needs values, and a partial tensor holds parts of them (for summands, f(a) + f(b) is not f(a + b));
// error: partial_in_nonlinear_operation<X_mesh, operation::generate>
#include <ostraka/creation/generate.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::mesh<X_mesh> const& mesh) {
  return os::generate<float, I, os::partial(X)>(mesh, I = 8, [](std::int64_t i) { return float(i); });
}
#else
auto f(os::mesh<X_mesh> const& mesh) {
  return os::generate<float, I>(mesh, I = 8, [](std::int64_t i) { return float(i); });
}
#endif
