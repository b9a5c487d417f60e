// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: os::full is given a value that the elements would not hold
// error: full: the value comes last, after the extents, and is a number of the elements' kind: a whole one for integers, a real one for float and double; write os::full<float, I/X>(mesh, I = 8, 2.5)
// error: value_comes_last<double, int>
#include <ostraka/creation/full.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::mesh<X_mesh> const& mesh) { return os::full<std::int32_t, I / X>(mesh, I = 8, 2.5); }
#else
auto f(os::mesh<X_mesh> const& mesh) { return os::full<std::int32_t, I / X>(mesh, I = 8, 2); }
#endif
