// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a function that os::generate is given has more parameters than there are axes
// error: function: os::map and os::map_into call it with an element of each tensor, in their order, os::generate with the index of an element along each axis, as std::int64_t, and none of them changes it; give it as many parameters, of types to which the arguments (listed here after the function) convert
// error: function_takes_other_arguments<
#include <ostraka/ostraka.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
double g(std::int64_t i, std::int64_t j);
auto f(os::mesh<X_mesh> const& m) { return os::generate<double, I/X>(m, I = 8, g); }
#else
double g(std::int64_t i);
auto f(os::mesh<X_mesh> const& m) { return os::generate<double, I/X>(m, I = 8, g); }
#endif
