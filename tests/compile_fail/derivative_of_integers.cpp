// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the gradient of a program with respect to whole numbers is asked for
// error: value_and_grad: derivatives are taken of floating-point and complex numbers
// error: derivative_of_integers<int>
#include <ostraka/gradient.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<int, I/X> const& p) {
  return os::value_and_grad([](auto const& x) { return os::sum<>(x); })(p);
}
#else
auto f(os::tensor<double, I/X> const& p) {
  return os::value_and_grad([](auto const& x) { return os::sum<>(x); })(p);
}
#endif
