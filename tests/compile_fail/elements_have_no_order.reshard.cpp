// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a reshard of complex numbers to partial maxima
// error: reduction: complex numbers have no maximum and no minimum;
// error: elements_have_no_order<Kokkos::complex<double>, partial_min<X_mesh>>
#include <ostraka/moves/reshard.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<Kokkos::complex<double>, I> const& a) { return os::reshard<I, os::partial_min(X)>(a); }
#else
auto f(os::tensor<Kokkos::complex<double>, I> const& a) { return os::reshard<I, os::partial(X)>(a); }
#endif
