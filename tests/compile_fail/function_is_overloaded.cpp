// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the name of several functions is handed to os::map
// error: function: several functions have this name, and nothing says which one is called; write a lambda that calls it, as in os::map([](double x) { return f(x); }, A)
// error: function_is_overloaded<double>
#include <ostraka/ostraka.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
double g(double x);
float g(float x);
auto f(os::tensor<double, I/X> const& a) { return os::map(g, a); }
#else
double g(double x);
float g(float x);
auto f(os::tensor<double, I/X> const& a) { return os::map([](double x) { return g(x); }, a); }
#endif
