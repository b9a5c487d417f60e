// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: complex numbers are clamped
// error: function: it is not defined for such elements
// error: function_undefined_for_elements<Kokkos::complex<float>, operation::clamp>
#include <ostraka/operations.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<std::complex<float>, I/X> const& a) { return os::clamp(a, 0, 1); }
#else
auto f(os::tensor<std::complex<float>, I/X> const& a) { return os::clamp(os::abs(a), 0, 1); }
#endif
