// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: complex numbers that are partial by a maximum
// error: reduction: complex numbers have no maximum and no minimum;
// error: elements_have_no_order<Kokkos::complex<float>, partial_max<X_mesh>>
#include <ostraka/tensors/tensor.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
os::tensor<Kokkos::complex<float>, I, os::partial_max(X)> a;
#else
os::tensor<Kokkos::complex<float>, I, os::partial_prod(X)> a;
#endif
