// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the maximum or minimum of complex numbers
// error: reduction: complex numbers have no maximum and no minimum; reduce a real-valued os::map of them, such as their modulus
// error: elements_have_no_order<Kokkos::complex<float>, operation::max>
#include <ostraka/algebra/reductions.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<std::complex<float>, I, J / X> const& a) { return os::max<I>(a); }
#else
auto f(os::tensor<std::complex<float>, I, J / X> const& a) {
  return os::max<I>(os::map([](Kokkos::complex<float> v) { return Kokkos::abs(v); }, a));
}
#endif
