// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: whole numbers are transformed
// error: operation: fft and ifft take float, double and complex numbers of these
// error: not_transformed<
#include <ostraka/fft.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(K);

auto f(os::tensor<std::int32_t, I> const& a) {
#ifdef SHOULD_FAIL
  return os::fft<I, K>(a);
#else
  return os::fft<I, K>(os::cast<double>(a));
#endif
}
