// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the length of a real result is not given
// error: missing_extent<
#include <ostraka/fft.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(K);

auto f(os::tensor<Kokkos::complex<double>, I> const& a) {
#ifdef SHOULD_FAIL
  return os::irfft<I, K>(a);
#else
  return os::irfft<I, K>(a, K = 6);
#endif
}
