// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the tensor that a transform is written to lacks a batch axis
// error: operation: the axis that is transformed is followed by the axis that it becomes, and os::dims of several axes by as many in the same order, alone or with all other axes of the tensor in any order
// error: transform_axes_mismatch<
#include <ostraka/fft.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_AXIS(L);
OSTRAKA_MESH_AXIS(X);

using complex = Kokkos::complex<double>;

void f(os::tensor<complex, I/X, J> const& a, [[maybe_unused]] os::tensor<complex, K, J/X> const& good,
       [[maybe_unused]] os::tensor<complex, K, L/X> const& bad) {
#ifdef SHOULD_FAIL
  os::fft_into<I/X>(bad, a);
#else
  os::fft_into<I/X>(good, a);
#endif
}
