// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the function that is differentiated gives a complex number
// error: value_and_grad: the gradient is that of a real number
// error: loss_is_complex<Kokkos::complex<float>
#include <ostraka/gradient.hpp>
#include <ostraka/operations.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<std::complex<float>, I/X> const& p) {
  return os::value_and_grad([](auto const& x) { return os::sum<>(x); })(p);
}
#else
auto f(os::tensor<std::complex<float>, I/X> const& p) {
  return os::value_and_grad([](auto const& x) { return os::real(os::sum<>(x)); })(p);
}
#endif
