// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the exponential of integers is asked for
// error: function: it is not defined for such elements (docs/operations.md says for which); convert integers and bools to numbers with a fraction, as in os::cast<float>(A), and of complex numbers take the modulus with os::abs, or a part with os::real or os::imag
// error: function_undefined_for_elements<int, operation::exp>
#include <ostraka/operations.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<int, I/X> const& a) { return os::exp(a); }
#else
auto f(os::tensor<int, I/X> const& a) { return os::exp(os::cast<float>(a)); }
#endif
