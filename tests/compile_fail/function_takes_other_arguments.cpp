// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a function that os::map is given has more parameters than there are tensors
// error: function: os::map and os::map_into call it with an element of each tensor, in their order, os::generate with the index of an element along each axis, as std::int64_t, and none of them changes it; give it as many parameters, of types to which the arguments (listed here after the function) convert
// error: function_takes_other_arguments<
#include <ostraka/ostraka.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
double add(double x, double y);
auto f(os::tensor<double, I/X> const& a) { return os::map(add, a); }
#else
double twice(double x);
auto f(os::tensor<double, I/X> const& a) { return os::map(twice, a); }
#endif
