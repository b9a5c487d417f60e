// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: an axis of static extent is too short for the spectrum
// error: operation: n numbers have a spectrum of n, real ones one of n/2 + 1
// error: spectrum_extent_mismatch<
#include <ostraka/fft.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I, 8);
OSTRAKA_AXIS(K, 4);
OSTRAKA_AXIS(L, 5);

auto f(os::tensor<double, I> const& a) {
#ifdef SHOULD_FAIL
  return os::rfft<I, K>(a);
#else
  return os::rfft<I, L>(a);
#endif
}
