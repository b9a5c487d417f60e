// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: complex numbers are cast to real ones
// error: cast: a complex number is not a real one; take its real part with os::real, or its modulus with os::abs
// error: cast_drops_imaginary_part<Kokkos::complex<float>, float>
#include <ostraka/elements/cast.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<Kokkos::complex<float>, I / X> const& a) { return os::cast<float>(a); }
#else
auto f(os::tensor<Kokkos::complex<float>, I / X> const& a) { return os::cast<Kokkos::complex<double>>(a); }
#endif
