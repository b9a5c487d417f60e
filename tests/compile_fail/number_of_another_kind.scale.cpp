// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a real tensor is scaled by a complex number
// error: number: a number that meets elements is of their kind: a whole number for integers, a real one for float,
// error: number_of_another_kind<std::complex<double>, double>
#include <ostraka/elements/arithmetic.hpp>
#include <ostraka/elements/cast.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<double, I / X> const& a) { return os::scale(std::complex<double>(0, 1), a); }
#else
auto f(os::tensor<double, I / X> const& a) {
  return os::scale(std::complex<double>(0, 1), os::cast<std::complex<double>>(a));
}
#endif
