// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the spectrum of real numbers is asked of complex ones
// error: operation: fft and ifft take float, double and complex numbers of these, rfft takes real ones and irfft complex ones
// error: not_transformed<
#include <ostraka/fft.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(K);

auto f(os::tensor<Kokkos::complex<double>, I> const& a) {
#ifdef SHOULD_FAIL
  return os::rfft<I, K>(a);
#else
  return os::fft<I, K>(a);
#endif
}
