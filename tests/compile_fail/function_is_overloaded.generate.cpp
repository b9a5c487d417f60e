// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the name of several functions is handed to os::generate
// error: function: several functions have this name, and nothing says which one is called; write a lambda that calls it, as in os::map([](double x) { return f(x); }, A)
// error: function_is_overloaded<double>
#include <ostraka/ostraka.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
double g(std::int64_t i);
double g(double x);
auto f(os::mesh<X_mesh> const& m) { return os::generate<double, I/X>(m, I = 8, g); }
#else
double g(std::int64_t i);
double g(double x);
auto f(os::mesh<X_mesh> const& m) {
  return os::generate<double, I/X>(m, I = 8, [](std::int64_t i) { return g(i); });
}
#endif
