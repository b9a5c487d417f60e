// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: complex numbers are compared
// error: comparison: complex numbers have no order; compare their moduli or parts, or ask for == and !=
// error: complex_numbers_compared<operation::less>
#include <ostraka/ostraka.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);

#ifdef SHOULD_FAIL
auto f(os::tensor<std::complex<float>, I> const& a) { return a < a; }
#else
auto f(os::tensor<std::complex<float>, I> const& a) { return a == a; }
#endif
