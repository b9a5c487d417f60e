// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the larger of complex numbers
// error: reduction: complex numbers have no maximum and no minimum;
// error: elements_have_no_order<Kokkos::complex<float>, operation::maximum>
#include <ostraka/elements/arithmetic.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<Kokkos::complex<float>, I / X> const& a, os::tensor<Kokkos::complex<float>, I / X> const& b) {
  return os::maximum(a, b);
}
#else
auto f(os::tensor<float, I / X> const& a, os::tensor<float, I / X> const& b) { return os::maximum(a, b); }
#endif
