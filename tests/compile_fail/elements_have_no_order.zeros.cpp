// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: zeros of complex numbers that are partial by a maximum
// error: reduction: complex numbers have no maximum and no minimum;
// error: elements_have_no_order<Kokkos::complex<float>, partial_max<X_mesh>>
#include <ostraka/creation/zeros.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::mesh<X_mesh> const& mesh) { return os::zeros<Kokkos::complex<float>, I, os::partial_max(X)>(mesh, I = 8); }
#else
auto f(os::mesh<X_mesh> const& mesh) { return os::zeros<Kokkos::complex<float>, I, os::partial(X)>(mesh, I = 8); }
#endif
